// Layered graph layout from left to right (Sugiyama): cycle removal, longest-path layers, crossing reduction,
// coordinates. Pure, so that it can run in a worker.

export interface LayoutInput {
  widths: number[];
  edges: [number, number][];
}

export interface Layout {
  x: number[];
  y: number[];
  /** Drawn edges with their end points and bends. */
  edges: { from: number; to: number; points: [number, number][] }[];
  width: number;
  height: number;
}

export const NODE_HEIGHT = 28;
const GAP_X = 44;
const GAP_Y = 12;
const GAP_BEND = 8;
/** Iterations of crossing reduction and of vertical alignment. */
const SWEEPS = 12;
const ALIGNMENT_ROUNDS = 24;

interface Vertex {
  layer: number;
  /** Index of the node in the input, or -1 for a bend of a long edge. */
  node: number;
  order: number;
  y: number;
  before: number[];
  after: number[];
}

export function layout({ widths, edges: inputEdges }: LayoutInput): Layout {
  const n = widths.length;
  const edges = removeRedundantEdges(n, removeCycles(n, inputEdges));
  const layerOf = layersOf(n, edges);
  const vertices: Vertex[] = widths.map((_, node) => ({ layer: layerOf[node] ?? 0, node, order: 0, y: 0, before: [], after: [] }));
  const chains = edges.map(([from, to]) => insertBends(vertices, from, to));
  const layers: number[][] = [];
  vertices.forEach((vertex, at) => (layers[vertex.layer] ??= []).push(at));
  for (let layer = 0; layer < layers.length; layer += 1) layers[layer] ??= [];
  orderLayers(vertices, layers);
  alignVertices(vertices, layers);
  return assignCoordinates(widths, vertices, layers, chains, edges);
}

/** Removes the edges that close a cycle (back edges of a depth-first search). */
function removeCycles(n: number, edges: [number, number][]): [number, number][] {
  const next: number[][] = Array.from({ length: n }, () => []);
  for (const [from, to] of edges) next[from]?.push(to);
  const state = new Uint8Array(n);
  const acyclic: [number, number][] = [];
  for (let root = 0; root < n; root += 1) {
    if (state[root] !== 0) continue;
    const stack: [number, number][] = [[root, 0]];
    state[root] = 1;
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const [at, step] = top;
      const to = next[at]?.[step];
      if (to === undefined) {
        state[at] = 2;
        stack.pop();
        continue;
      }
      top[1] += 1;
      if (state[to] === 1) continue;
      acyclic.push([at, to]);
      if (state[to] === 0) {
        state[to] = 1;
        stack.push([to, 0]);
      }
    }
  }
  return acyclic;
}

/**
 * Transitive reduction: removes an edge if a longer path connects the same nodes. Reachability is a bit set
 * per node.
 */
function removeRedundantEdges(n: number, edges: [number, number][]): [number, number][] {
  const next: number[][] = Array.from({ length: n }, () => []);
  for (const [from, to] of edges) next[from]?.push(to);
  const words = Math.ceil(n / 32);
  const reachable = Array.from({ length: n }, () => new Uint32Array(words));
  for (const at of topologicalOrder(n, edges).toReversed()) {
    const own = reachable[at];
    if (!own) continue;
    for (const to of next[at] ?? []) {
      const successor = reachable[to];
      if (!successor) continue;
      for (let word = 0; word < words; word += 1) own[word] = (own[word] ?? 0) | (successor[word] ?? 0);
      own[to >> 5] = (own[to >> 5] ?? 0) | (1 << (to & 31));
    }
  }
  const isReachable = (from: number, to: number) => ((reachable[from]?.[to >> 5] ?? 0) & (1 << (to & 31))) !== 0;
  return edges.filter(([from, to]) => !(next[from] ?? []).some((other) => other !== to && isReachable(other, to)));
}

function topologicalOrder(n: number, edges: [number, number][]): number[] {
  const nBefore = new Uint32Array(n);
  const next: number[][] = Array.from({ length: n }, () => []);
  for (const [from, to] of edges) {
    next[from]?.push(to);
    nBefore[to] = (nBefore[to] ?? 0) + 1;
  }
  const order: number[] = [];
  for (let at = 0; at < n; at += 1) if (nBefore[at] === 0) order.push(at);
  for (let done = 0; done < order.length; done += 1) {
    for (const to of next[order[done] ?? 0] ?? []) {
      nBefore[to] = (nBefore[to] ?? 0) - 1;
      if (nBefore[to] === 0) order.push(to);
    }
  }
  return order;
}

/** Longest-path layering. Nodes without predecessors move right, next to their nearest successor. */
function layersOf(n: number, edges: [number, number][]): number[] {
  const layer = Array.from({ length: n }, () => 0);
  const order = topologicalOrder(n, edges);
  const next: number[][] = Array.from({ length: n }, () => []);
  const hasBefore = new Uint8Array(n);
  for (const [from, to] of edges) {
    next[from]?.push(to);
    hasBefore[to] = 1;
  }
  for (const at of order) for (const to of next[at] ?? []) layer[to] = Math.max(layer[to] ?? 0, (layer[at] ?? 0) + 1);
  for (const at of order) {
    const after = next[at] ?? [];
    if (!hasBefore[at] && after.length > 0) layer[at] = Math.min(...after.map((to) => layer[to] ?? 0)) - 1;
  }
  return layer;
}

/** Splits an edge into segments between adjacent layers: adds a bend in each layer that it crosses. */
function insertBends(vertices: Vertex[], from: number, to: number): number[] {
  const path = [from];
  const [start, end] = [vertices[from]?.layer ?? 0, vertices[to]?.layer ?? 0];
  for (let layer = start + 1; layer < end; layer += 1) {
    vertices.push({ layer, node: -1, order: 0, y: 0, before: [], after: [] });
    path.push(vertices.length - 1);
  }
  path.push(to);
  for (let step = 1; step < path.length; step += 1) {
    const [a, b] = [path[step - 1] ?? 0, path[step] ?? 0];
    vertices[a]?.after.push(b);
    vertices[b]?.before.push(a);
  }
  return path;
}

/**
 * Reduces crossings: sorts each layer by the mean position of its neighbours, forwards and backwards
 * (barycentre).
 */
function orderLayers(vertices: Vertex[], layers: number[][]): void {
  const setOrders = (layer: number[]) => layer.forEach((at, order) => setOrder(vertices, at, order));
  layers.forEach(setOrders);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isForward = sweep % 2 === 0;
    for (const layer of isForward ? layers : layers.toReversed()) {
      const keys = new Map(
        layer.map((at) => {
          const vertex = vertices[at];
          const neighbours = (isForward ? vertex?.before : vertex?.after) ?? [];
          const sum = neighbours.reduce((total, other) => total + (vertices[other]?.order ?? 0), 0);
          return [at, neighbours.length > 0 ? sum / neighbours.length : (vertex?.order ?? 0)];
        }),
      );
      layer.sort((a, b) => (keys.get(a) ?? 0) - (keys.get(b) ?? 0));
      setOrders(layer);
    }
  }
}

function setOrder(vertices: Vertex[], at: number, order: number): void {
  const vertex = vertices[at];
  if (vertex) vertex.order = order;
}

/** Moves vertices towards the mean height of their neighbours without changing their order. */
function alignVertices(vertices: Vertex[], layers: number[][]): void {
  const heightOf = (at: number) => (vertices[at]?.node === -1 ? GAP_BEND : NODE_HEIGHT + GAP_Y);
  for (const layer of layers) {
    let y = 0;
    for (const at of layer) {
      const vertex = vertices[at];
      if (vertex) vertex.y = y + heightOf(at) / 2;
      y += heightOf(at);
    }
    for (const at of layer) {
      const vertex = vertices[at];
      if (vertex) vertex.y -= y / 2;
    }
  }
  for (let round = 0; round < ALIGNMENT_ROUNDS; round += 1) {
    for (const layer of round % 2 === 0 ? layers : layers.toReversed()) {
      const targets = layer.map((at) => {
        const vertex = vertices[at];
        const neighbours = [...(vertex?.before ?? []), ...(vertex?.after ?? [])];
        return neighbours.length === 0 ? (vertex?.y ?? 0) : neighbours.reduce((sum, other) => sum + (vertices[other]?.y ?? 0), 0) / neighbours.length;
      });
      separate(layer, targets, heightOf).forEach((y, index) => {
        const vertex = vertices[layer[index] ?? 0];
        if (vertex) vertex.y = y;
      });
    }
  }
}

/** Heights closest to `targets` that keep order and distance. Vertices that collide move as one block. */
function separate(layer: number[], targets: number[], heightOf: (at: number) => number): number[] {
  const blocks: { offsets: number[]; sum: number; start: number; size: number }[] = [];
  layer.forEach((at, index) => {
    const height = heightOf(at);
    let block = { offsets: [height / 2], sum: (targets[index] ?? 0) - height / 2, start: (targets[index] ?? 0) - height / 2, size: height };
    for (let last = blocks.at(-1); last && last.start + last.size > block.start; last = blocks.at(-1)) {
      blocks.pop();
      const { size } = last;
      block = {
        offsets: [...last.offsets, ...block.offsets.map((offset) => offset + size)],
        sum: last.sum + block.sum - size * block.offsets.length,
        start: 0,
        size: size + block.size,
      };
      block.start = block.sum / block.offsets.length;
    }
    blocks.push(block);
  });
  return blocks.flatMap((block) => block.offsets.map((offset) => block.start + offset));
}

function assignCoordinates(widths: number[], vertices: Vertex[], layers: number[][], chains: number[][], edges: [number, number][]): Layout {
  const top = vertices.reduce((lowest, vertex) => Math.min(lowest, vertex.y - NODE_HEIGHT), 0);
  const bottom = vertices.reduce((highest, vertex) => Math.max(highest, vertex.y + NODE_HEIGHT), 0);
  const left: number[] = [];
  const layerWidths: number[] = [];
  let x = 0;
  layers.forEach((layer, at) => {
    const width = layer.reduce((widest, member) => Math.max(widest, widths[vertices[member]?.node ?? -1] ?? 0), 24);
    left[at] = x;
    layerWidths[at] = width;
    x += width + GAP_X;
  });
  const yOf = (at: number) => (vertices[at]?.y ?? 0) - top;
  const leftOf = (at: number) => left[vertices[at]?.layer ?? 0] ?? 0;
  return {
    x: widths.map((_, node) => leftOf(node)),
    y: widths.map((_, node) => yOf(node)),
    width: Math.max(0, x - GAP_X),
    height: bottom - top,
    edges: chains.map((path, edge) => {
      const [from, to] = edges[edge] ?? [0, 0];
      const points: [number, number][] = [];
      path.forEach((at, step) => {
        if (step === 0) points.push([leftOf(at) + (widths[from] ?? 0), yOf(at)]);
        else if (step === path.length - 1) points.push([leftOf(at), yOf(at)]);
        else points.push([leftOf(at), yOf(at)], [leftOf(at) + (layerWidths[vertices[at]?.layer ?? 0] ?? 0), yOf(at)]);
      });
      return { from, to, points };
    }),
  };
}

/** SVG path through points that are ordered from left to right. */
export function pathOf(points: [number, number][]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let [x, y] = first;
  let text = `M${round(x)} ${round(y)}`;
  for (const [nextX, nextY] of rest) {
    const middle = (x + nextX) / 2;
    text += y === nextY ? `H${round(nextX)}` : `C${round(middle)} ${round(y)} ${round(middle)} ${round(nextY)} ${round(nextX)} ${round(nextY)}`;
    [x, y] = [nextX, nextY];
  }
  return text;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
