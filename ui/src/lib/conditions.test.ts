import { expect, test } from "vitest";
import { holds, parseCondition } from "./conditions";

const MODELS = {
  settings: { storage: { ceph: { value: true }, lvm: { value: false } }, list: { value: ["a", "b"] } },
  cluster: { mode: "ha_compact", net_provider: "neutron" },
  version: { feature_groups: ["advanced"] },
};

test.each([
  ["true", true],
  ["false", false],
  ["settings:storage.ceph.value == true", true],
  ["settings:storage.ceph.value != true", false],
  ["settings:storage.ceph.value == true and settings:storage.lvm.value == true", false],
  ["settings:storage.ceph.value == true or settings:storage.lvm.value == true", true],
  ["not ('advanced' in version:feature_groups)", false],
  ["'ha' in cluster:mode", true],
  ["'a' in settings:list.value", true],
  ["cluster:net_provider != 'neutron'", false],
  ["settings:nothing.here? == null", true],
  ["(false or true) and not false", true],
  // As on the server, `not` binds tighter than `==`.
  ["not false == false", false],
])("%s is %s", (text, expected) => {
  expect(holds(text, MODELS)).toBe(expected);
});

test.each(["", "a >= 5", "settings:a.b ==", "(true", "true true", "'open", "word"])("invalid condition %j does not hold", (text) => {
  expect(() => parseCondition(text)).toThrow();
  expect(holds(text, MODELS)).toBe(false);
});
