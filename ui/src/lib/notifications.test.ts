import { expect, test } from "vitest";
import { countOf, placeOf, statusOfTopic } from "./notifications";

test("a notification leads to what it is about", () => {
  expect(placeOf({ run: 7, cluster: 1 })).toBe("/runs/7");
  expect(placeOf({ run: null, cluster: 1 })).toBe("/clusters/1/nodes");
  expect(placeOf({})).toBeUndefined();
});

test("topics look like what they tell", () => {
  expect(statusOfTopic("run.failed")).toBe("failed");
  expect(statusOfTopic("something.new")).toBe("pending");
});

test("a bell has room for two digits", () => {
  expect([countOf(0), countOf(99), countOf(100)]).toEqual(["0", "99", "99+"]);
});
