import { expect, test } from "vitest";
import { diffLines } from "./diffLines";

const SIGNS = { del: "-", add: "+", same: " " };

test.each([
  ["a", "b", ["-a", "+b"]],
  [null, "b", ["+b"]],
  ["a", null, ["-a"]],
  ["1\na\n3", "1\nb\nc\n3", [" 1", "-a", "+b", "+c", " 3"]],
  ["a\na", "a", [" a", "-a"]],
  ["(secret)", "(secret)", ["-(secret)", "+(secret)"]],
])("%j to %j", (before, after, expected) => {
  expect(diffLines(before, after).map((line) => SIGNS[line.kind] + line.text)).toEqual(expected);
});
