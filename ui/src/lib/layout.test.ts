import { expect, test } from "vitest";
import { layout, NODE_HEIGHT, pathOf } from "./layout";

/** Numbers that look random and are always the same. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

function graph(n: number, seed: number) {
  const roll = dice(seed);
  const edges: [number, number][] = [];
  for (let to = 1; to < n; to += 1) for (let k = 0; k < 2; k += 1) edges.push([Math.floor(roll() * to), to]);
  return { widths: Array.from({ length: n }, () => 60 + Math.floor(roll() * 120)), edges };
}

test.each([1, 2, 3, 4, 5])("every edge leads to the right and nothing overlaps (seed %i)", (seed) => {
  const input = graph(60, seed);
  const { x, y, edges } = layout(input);
  for (const [from, to] of input.edges) expect(x[from]).toBeLessThan(x[to] ?? 0);
  expect(edges.length).toBeLessThanOrEqual(new Set(input.edges.map(String)).size);
  for (let a = 0; a < 60; a += 1) {
    for (let b = a + 1; b < 60; b += 1) {
      if (x[a] === x[b]) expect(Math.abs((y[a] ?? 0) - (y[b] ?? 0))).toBeGreaterThanOrEqual(NODE_HEIGHT);
    }
  }
});

test("an edge that says nothing new is not drawn", () => {
  const { edges } = layout({ widths: [10, 10, 10], edges: [[0, 1], [1, 2], [0, 2]] });
  expect(edges.map(({ from, to }) => [from, to])).toEqual([[0, 1], [1, 2]]);
});

test("circles and empty graphs are drawn all the same", () => {
  expect(layout({ widths: [10, 10], edges: [[0, 1], [1, 0]] }).edges).toHaveLength(1);
  expect(layout({ widths: [], edges: [] }).x).toEqual([]);
});

test("the same graph looks the same", () => {
  expect(layout(graph(40, 7))).toEqual(layout(graph(40, 7)));
});

test("a graph of the size of a real one takes less than a second", () => {
  const started = performance.now();
  layout(graph(204, 3));
  expect(performance.now() - started).toBeLessThan(1000);
});

test("lines are smooth and straight where they can be", () => {
  expect(pathOf([[0, 0], [10, 0]])).toBe("M0 0H10");
  expect(pathOf([[0, 0], [10, 6]])).toBe("M0 0C5 0 5 6 10 6");
  expect(pathOf([])).toBe("");
});
