// Layers from left to right: longest paths, then few crossings, then short edges. Pure, so that a worker can do it.

export interface LayoutInput {
  widths: number[];
  edges: [number, number][];
}

export interface Layout {
  x: number[];
  y: number[];
  /** For each edge that is drawn its ends and the points on its way. */
  edges: { from: number; to: number; points: [number, number][] }[];
  width: number;
  height: number;
}

export const NODE_HEIGHT = 28;
const GAP_X = 44;
const GAP_Y = 12;
const GAP_BEND = 8;
const SWEEPS = 12;
const SETTLES = 24;

interface Vertex {
  layer: number;
  /** A place in the input, or -1 for a bend of a long edge. */
  node: number;
  order: number;
  y: number;
  before: number[];
  after: number[];
}

export function layout({ widths, edges: given }: LayoutInput): Layout {
  const n = widths.length;
  const edges = reduce(n, withoutCycles(n, given));
  const layerOf = layersOf(n, edges);
  const vertices: Vertex[] = widths.map((_, node) => ({ layer: layerOf[node] ?? 0, node, order: 0, y: 0, before: [], after: [] }));
  const chains = edges.map(([from, to]) => chain(vertices, from, to));
  const layers: number[][] = [];
  vertices.forEach((vertex, at) => (layers[vertex.layer] ??= []).push(at));
  for (let layer = 0; layer < layers.length; layer += 1) layers[layer] ??= [];
  orderLayers(vertices, layers);
  settle(vertices, layers);
  return place(widths, vertices, layers, chains, edges);
}

/** Edges that would close a circle are left out, the latest found first. */
function withoutCycles(n: number, edges: [number, number][]): [number, number][] {
  const next: number[][] = Array.from({ length: n }, () => []);
  for (const [from, to] of edges) next[from]?.push(to);
  const state = new Uint8Array(n);
  const kept: [number, number][] = [];
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
      kept.push([at, to]);
      if (state[to] === 0) {
        state[to] = 1;
        stack.push([to, 0]);
      }
    }
  }
  return kept;
}

/** Without edges that say nothing new: from a to c, where there is a way from a by b to c. */
function reduce(n: number, edges: [number, number][]): [number, number][] {
  const next: number[][] = Array.from({ length: n }, () => []);
  for (const [from, to] of edges) next[from]?.push(to);
  const words = Math.ceil(n / 32);
  const reach = Array.from({ length: n }, () => new Uint32Array(words));
  for (const at of topologicalOrder(n, edges).toReversed()) {
    const mine = reach[at];
    if (!mine) continue;
    for (const to of next[at] ?? []) {
      const theirs = reach[to];
      if (!theirs) continue;
      for (let word = 0; word < words; word += 1) mine[word] = (mine[word] ?? 0) | (theirs[word] ?? 0);
      mine[to >> 5] = (mine[to >> 5] ?? 0) | (1 << (to & 31));
    }
  }
  const has = (from: number, to: number) => ((reach[from]?.[to >> 5] ?? 0) & (1 << (to & 31))) !== 0;
  return edges.filter(([from, to]) => !(next[from] ?? []).some((other) => other !== to && has(other, to)));
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

/** As far right as what it needs; what needs nothing stands just before what needs it. */
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

/** The way of an edge: its ends, and a bend in each layer between. */
function chain(vertices: Vertex[], from: number, to: number): number[] {
  const way = [from];
  const [start, end] = [vertices[from]?.layer ?? 0, vertices[to]?.layer ?? 0];
  for (let layer = start + 1; layer < end; layer += 1) {
    vertices.push({ layer, node: -1, order: 0, y: 0, before: [], after: [] });
    way.push(vertices.length - 1);
  }
  way.push(to);
  for (let step = 1; step < way.length; step += 1) {
    const [a, b] = [way[step - 1] ?? 0, way[step] ?? 0];
    vertices[a]?.after.push(b);
    vertices[b]?.before.push(a);
  }
  return way;
}

/** Each vertex goes where its neighbours are, forth and back. */
function orderLayers(vertices: Vertex[], layers: number[][]): void {
  const number = (layer: number[]) => layer.forEach((at, order) => setOrder(vertices, at, order));
  layers.forEach(number);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isForth = sweep % 2 === 0;
    for (const layer of isForth ? layers : layers.toReversed()) {
      const keys = new Map(
        layer.map((at) => {
          const vertex = vertices[at];
          const others = (isForth ? vertex?.before : vertex?.after) ?? [];
          const sum = others.reduce((total, other) => total + (vertices[other]?.order ?? 0), 0);
          return [at, others.length > 0 ? sum / others.length : (vertex?.order ?? 0)];
        }),
      );
      layer.sort((a, b) => (keys.get(a) ?? 0) - (keys.get(b) ?? 0));
      number(layer);
    }
  }
}

function setOrder(vertices: Vertex[], at: number, order: number): void {
  const vertex = vertices[at];
  if (vertex) vertex.order = order;
}

/** Moves vertices towards the middle of their neighbours without changing their order. */
function settle(vertices: Vertex[], layers: number[][]): void {
  const room = (at: number) => (vertices[at]?.node === -1 ? GAP_BEND : NODE_HEIGHT + GAP_Y);
  for (const layer of layers) {
    let y = 0;
    for (const at of layer) {
      const vertex = vertices[at];
      if (vertex) vertex.y = y + room(at) / 2;
      y += room(at);
    }
    for (const at of layer) {
      const vertex = vertices[at];
      if (vertex) vertex.y -= y / 2;
    }
  }
  for (let round = 0; round < SETTLES; round += 1) {
    for (const layer of round % 2 === 0 ? layers : layers.toReversed()) {
      const wanted = layer.map((at) => {
        const vertex = vertices[at];
        const others = [...(vertex?.before ?? []), ...(vertex?.after ?? [])];
        return others.length === 0 ? (vertex?.y ?? 0) : others.reduce((sum, other) => sum + (vertices[other]?.y ?? 0), 0) / others.length;
      });
      spread(layer, wanted, room).forEach((y, place) => {
        const vertex = vertices[layer[place] ?? 0];
        if (vertex) vertex.y = y;
      });
    }
  }
}

/** The nearest places to the wanted ones that keep order and distance: neighbours that collide move as one block. */
function spread(layer: number[], wanted: number[], room: (at: number) => number): number[] {
  const blocks: { offsets: number[]; sum: number; start: number; size: number }[] = [];
  layer.forEach((at, place) => {
    const height = room(at);
    let block = { offsets: [height / 2], sum: (wanted[place] ?? 0) - height / 2, start: (wanted[place] ?? 0) - height / 2, size: height };
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

function place(widths: number[], vertices: Vertex[], layers: number[][], chains: number[][], edges: [number, number][]): Layout {
  const top = vertices.reduce((least, vertex) => Math.min(least, vertex.y - NODE_HEIGHT), 0);
  const bottom = vertices.reduce((most, vertex) => Math.max(most, vertex.y + NODE_HEIGHT), 0);
  const left: number[] = [];
  const wide: number[] = [];
  let x = 0;
  layers.forEach((layer, at) => {
    const width = layer.reduce((most, one) => Math.max(most, widths[vertices[one]?.node ?? -1] ?? 0), 24);
    left[at] = x;
    wide[at] = width;
    x += width + GAP_X;
  });
  const yOf = (at: number) => (vertices[at]?.y ?? 0) - top;
  const leftOf = (at: number) => left[vertices[at]?.layer ?? 0] ?? 0;
  return {
    x: widths.map((_, node) => leftOf(node)),
    y: widths.map((_, node) => yOf(node)),
    width: Math.max(0, x - GAP_X),
    height: bottom - top,
    edges: chains.map((way, edge) => {
      const [from, to] = edges[edge] ?? [0, 0];
      const points: [number, number][] = [];
      way.forEach((at, step) => {
        if (step === 0) points.push([leftOf(at) + (widths[from] ?? 0), yOf(at)]);
        else if (step === way.length - 1) points.push([leftOf(at), yOf(at)]);
        else points.push([leftOf(at), yOf(at)], [leftOf(at) + (wide[vertices[at]?.layer ?? 0] ?? 0), yOf(at)]);
      });
      return { from, to, points };
    }),
  };
}

/** A smooth line through points that lie from left to right. */
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
