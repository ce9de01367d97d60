import { expect, test } from "vitest";
import { formatUnread, pathOf, statusOfTopic } from "./notifications";

test("notification links to its run or cluster", () => {
  expect(pathOf({ run: 7, cluster: 1 })).toBe("/runs/7");
  expect(pathOf({ run: null, cluster: 1 })).toBe("/clusters/1/nodes");
  expect(pathOf({})).toBeUndefined();
});

test("topic maps to a status; unknown topic is pending", () => {
  expect(statusOfTopic("run.failed")).toBe("failed");
  expect(statusOfTopic("run.partial")).toBe("interrupted");
  expect(statusOfTopic("node.replaced")).toBe("interrupted");
  expect(statusOfTopic("something.new")).toBe("pending");
});

test("unread count is capped at 99+", () => {
  expect([formatUnread(0), formatUnread(99), formatUnread(100)]).toEqual(["0", "99", "99+"]);
});
