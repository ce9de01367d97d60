import { expect, test } from "vitest";
import { layout, NODE_HEIGHT, pathOf } from "./layout";

/** Linear congruential generator: deterministic pseudo-random numbers. */
function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

function graph(n: number, seed: number) {
  const random = seededRandom(seed);
  const edges: [number, number][] = [];
  for (let to = 1; to < n; to += 1) for (let k = 0; k < 2; k += 1) edges.push([Math.floor(random() * to), to]);
  return { widths: Array.from({ length: n }, () => 60 + Math.floor(random() * 120)), edges };
}

test.each([1, 2, 3, 4, 5])("edges point to the right and nodes do not overlap (seed %i)", (seed) => {
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

test("redundant edge is removed", () => {
  const { edges } = layout({ widths: [10, 10, 10], edges: [[0, 1], [1, 2], [0, 2]] });
  expect(edges.map(({ from, to }) => [from, to])).toEqual([[0, 1], [1, 2]]);
});

test("cyclic and empty graphs have a layout", () => {
  expect(layout({ widths: [10, 10], edges: [[0, 1], [1, 0]] }).edges).toHaveLength(1);
  expect(layout({ widths: [], edges: [] }).x).toEqual([]);
});

test("layout is deterministic", () => {
  expect(layout(graph(40, 7))).toEqual(layout(graph(40, 7)));
});

test("layout of 204 tasks takes less than a second", () => {
  const started = performance.now();
  layout(graph(204, 3));
  expect(performance.now() - started).toBeLessThan(1000);
});

test("path is straight between points of equal height and curved otherwise", () => {
  expect(pathOf([[0, 0], [10, 0]])).toBe("M0 0H10");
  expect(pathOf([[0, 0], [10, 6]])).toBe("M0 0C5 0 5 6 10 6");
  expect(pathOf([])).toBe("");
});
