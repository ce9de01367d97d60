import { expect, test } from "vitest";
import { reverseEdges, fold, groupsOf, reachable, taskGraphOf } from "./taskGraph";

const TASKS = [
  { id: "pre_start", type: "stage" },
  { id: "pre_end", type: "stage", requires: ["pre_start"] },
  { id: "tools", type: "shell", role: ["a"], requires: ["pre_start"], required_for: ["pre_end"], provenance: { type: { layer: "release" } } },
  { id: "deploy_start", type: "stage", requires: ["pre_end"] },
  { id: "web-1", type: "shell", roles: "web", requires: ["deploy_start"], provenance: { type: { layer: "release" }, roles: { layer: "plugins" } } },
  { id: "web-2", type: "shell", roles: ["web", "db"], cross_depends: [{ name: "web-1", role: "*" }] },
  { id: "watch", type: "shell", cross_depends: [{ name: "/web-.*/" }], requires: ["no-such-task", { yaql_exp: "$.x" }] },
];
const graph = taskGraphOf(TASKS);
const nameOf = ([from, to]: [number, number]) => `${graph.tasks[from]?.id} > ${graph.tasks[to]?.id}`;

test("all dependency attributes become distinct edges", () => {
  expect(graph.edges.map(nameOf).toSorted()).toEqual([
    "deploy_start > web-1",
    "pre_end > deploy_start",
    "pre_start > pre_end",
    "pre_start > tools",
    "tools > pre_end",
    "web-1 > watch",
    "web-1 > web-2",
    "web-2 > watch",
  ]);
});

test("layer of a task is the last one that set an attribute", () => {
  expect(graph.tasks.find((task) => task.id === "web-1")?.layer).toBe("plugins");
  expect(graph.tasks.find((task) => task.id === "tools")?.layer).toBe("release");
});

test("task belongs to the last stage that it depends on", () => {
  expect(groupsOf(graph, "stage")).toEqual(["pre", "pre", "pre", "deploy", "deploy", "deploy", "deploy"]);
  expect(groupsOf(graph, "role")).toEqual(["", "", "a", "", "web", "several roles", "no role"]);
  expect(groupsOf(graph, "none").every((group) => group === "")).toBe(true);
});

test("collapsed group is one node with the edges of its tasks", () => {
  const drawing = fold(graph, groupsOf(graph, "stage"), (group) => group === "pre");
  expect(drawing.nodes.map((node) => node.label)).toEqual(["pre", "deploy_start", "web-1", "web-2", "watch"]);
  expect(drawing.nodes[0]?.members).toHaveLength(3);
  expect(drawing.edges).toContainEqual([0, 1]);
});

test("ancestors and descendants are reachable", () => {
  const at = graph.tasks.findIndex((task) => task.id === "web-1");
  expect([...reachable(7, graph.edges, at)].toSorted()).toEqual([5, 6]);
  expect(reachable(7, reverseEdges(graph.edges), at).size).toBe(4);
});
