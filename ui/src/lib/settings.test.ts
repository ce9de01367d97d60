import { expect, test } from "vitest";
import { formOf, patchOf, restrictionsOf, withChanges } from "./settings";

const ATTRIBUTES = {
  second: { metadata: { label: "Second", weight: 20, toggleable: true, enabled: false }, a: { type: "text", value: "x", weight: 1 } },
  first: {
    metadata: { label: "First", weight: 10 },
    ceph: { type: "checkbox", value: false, label: "Ceph", weight: 2 },
    name: { type: "text", value: "no way", regex: { source: "^\\w+$", error: "one word" }, weight: 1 },
    osd: { type: "number", value: 3, restrictions: [{ "settings:first.ceph.value == false": "Ceph is off" }] },
    secret: { type: "hidden", value: "s" },
    gone: { type: "text", value: "", restrictions: [{ condition: "true", action: "hide" }] },
  },
  plugin: { metadata: { class: "plugin" } },
};

test("sections and fields are sorted by weight, without hidden fields and plugins", () => {
  const form = formOf(ATTRIBUTES, {}, {});
  expect(form.map((section) => section.label)).toEqual(["First", "Second"]);
  expect(form[0]?.fields.map((field) => field.name)).toEqual(["name", "ceph", "osd"]);
});

test("disabled field has a reason and follows unsaved changes", () => {
  const osd = (changes: Record<string, unknown>) =>
    formOf(withChanges(ATTRIBUTES, changes), {}, {})[0]?.fields.find((field) => field.name === "osd")?.disabled;
  expect(osd({})).toBe("Ceph is off");
  expect(osd({ "first.ceph": true })).toBeUndefined();
  const off = formOf(ATTRIBUTES, {}, {})[1];
  expect(off?.fields[0]?.disabled).toBe("the section is disabled");
  expect(formOf(withChanges(ATTRIBUTES, { second: true }), {}, {})[1]?.fields[0]?.disabled).toBeUndefined();
});

test("value is validated against its pattern", () => {
  const problem = (value: string) => formOf(withChanges(ATTRIBUTES, { "first.name": value }), {}, {})[0]?.fields[0]?.problem;
  expect(problem("two words")).toBe("one word");
  expect(problem("word")).toBeUndefined();
});

test("patch contains only changed values", () => {
  expect(patchOf({ "first.ceph": true, second: false })).toEqual({ first: { ceph: { value: true } }, second: { metadata: { enabled: false } } });
});

test("all forms of restrictions are parsed", () => {
  expect(restrictionsOf(["a", { b: "why" }, { condition: "c", action: "hide" }, { condition: true, action: "none" }, 7, null])).toEqual([
    { condition: "a", action: "disable" },
    { condition: "b", action: "disable", message: "why" },
    { condition: "c", action: "hide", message: undefined },
  ]);
  expect(restrictionsOf(undefined)).toEqual([]);
});
