// Builds the dependency graph of tasks, groups tasks, and collapses groups.
import { asList, asMap } from "./json";

export interface Task {
  id: string;
  type: string;
  roles: string[];
  /** The last layer that set an attribute of the task. */
  layer: string;
  /** The task as in the REST API, with `provenance`. */
  raw: Record<string, unknown>;
}

export interface TaskGraph {
  tasks: Task[];
  /** Pairs of indexes into `tasks`: the second task depends on the first. */
  edges: [number, number][];
}

export function taskGraphOf(list: Record<string, unknown>[]): TaskGraph {
  const tasks = list.map(taskOf);
  const indexes = new Map(tasks.map((task, at) => [task.id, at]));
  const seen = new Set<string>();
  const edges: [number, number][] = [];
  const add = (from: number, to: number) => {
    const key = `${from} ${to}`;
    if (from === to || seen.has(key)) return;
    seen.add(key);
    edges.push([from, to]);
  };
  tasks.forEach((task, at) => {
    const before = [...namesOf(task.raw.requires), ...namesOf(task.raw.cross_depends ?? task.raw["cross-depends"])];
    const after = [...namesOf(task.raw.required_for), ...namesOf(task.raw.cross_depended_by ?? task.raw["cross-depended-by"])];
    for (const name of before) for (const other of matchingTasks(name, tasks, indexes)) add(other, at);
    for (const name of after) for (const other of matchingTasks(name, tasks, indexes)) add(at, other);
    if (task.type === "group") for (const name of namesOf(task.raw.tasks)) for (const other of matchingTasks(name, tasks, indexes)) add(at, other);
  });
  return { tasks, edges };
}

function taskOf(raw: Record<string, unknown>): Task {
  const declared = raw.roles ?? raw.role ?? raw.groups;
  const roles = typeof declared === "string" ? [declared] : asList(declared).filter((role) => typeof role === "string");
  const layers = Object.values(asMap(raw.provenance)).map((from) => String(asMap(from).layer ?? ""));
  const layer = ["plugins", "cluster"].find((name) => layers.includes(name)) ?? "release";
  return { id: String(raw.id), type: String(raw.type ?? ""), roles, layer, raw };
}

function namesOf(relations: unknown): string[] {
  return asList(relations).flatMap((relation) => {
    const name = typeof relation === "string" ? relation : asMap(relation).name;
    return typeof name === "string" ? [name] : [];
  });
}

/** Indexes of the tasks that a name or a `/pattern/` matches. */
function matchingTasks(name: string, tasks: Task[], indexes: Map<string, number>): number[] {
  const exact = indexes.get(name);
  if (exact !== undefined) return [exact];
  if (!/^\/.*\/$/.test(name)) return [];
  try {
    const pattern = new RegExp(`^(?:${name.slice(1, -1)})`);
    return tasks.flatMap((task, at) => (pattern.test(task.id) ? [at] : []));
  } catch {
    return [];
  }
}

export type GroupBy = "stage" | "role" | "layer" | "none";

/** Group of each task; empty for tasks without a group. */
export function groupsOf(graph: TaskGraph, by: GroupBy): string[] {
  if (by === "none") return graph.tasks.map(() => "");
  if (by === "layer") return graph.tasks.map((task) => (task.type === "stage" ? "" : task.layer));
  if (by === "role") {
    return graph.tasks.map((task) => (task.type === "stage" ? "" : task.roles.length > 1 ? "several roles" : (task.roles[0] ?? "no role")));
  }
  return stagesOf(graph);
}

/**
 * A task belongs to the last stage that it depends on. `deploy_start` and `deploy_end` delimit the stage
 * `deploy`.
 */
function stagesOf(graph: TaskGraph): string[] {
  const order = topological(graph.tasks.length, graph.edges);
  const depth = graph.tasks.map(() => 0);
  const stage = graph.tasks.map((task) => (task.type === "stage" ? task.id : ""));
  const stageDepth = graph.tasks.map(() => -1);
  const next = neighbours(graph.tasks.length, graph.edges);
  for (const at of order) {
    if (graph.tasks[at]?.type === "stage") {
      stage[at] = graph.tasks[at].id;
      stageDepth[at] = depth[at] ?? 0;
    }
    for (const to of next[at] ?? []) {
      depth[to] = Math.max(depth[to] ?? 0, (depth[at] ?? 0) + 1);
      if (graph.tasks[to]?.type !== "stage" && (stageDepth[at] ?? -1) > (stageDepth[to] ?? -1)) {
        stageDepth[to] = stageDepth[at] ?? -1;
        stage[to] = stage[at] ?? "";
      }
    }
  }
  return graph.tasks.map((_, at) => (stage[at] ? stage[at].replace(/_(?:start|end)$/, "") : "before all stages"));
}

export function neighbours(n: number, edges: [number, number][]): number[][] {
  const next: number[][] = Array.from({ length: n }, () => []);
  for (const [from, to] of edges) next[from]?.push(to);
  return next;
}

/** Topological order. Tasks on a cycle, or after one, are left out. */
export function topological(n: number, edges: [number, number][]): number[] {
  const next = neighbours(n, edges);
  const nBefore = Array.from({ length: n }, () => 0);
  for (const [, to] of edges) nBefore[to] = (nBefore[to] ?? 0) + 1;
  const order = nBefore.flatMap((count, at) => (count === 0 ? [at] : []));
  for (let done = 0; done < order.length; done += 1) {
    for (const to of next[order[done] ?? 0] ?? []) {
      nBefore[to] = (nBefore[to] ?? 0) - 1;
      if (nBefore[to] === 0) order.push(to);
    }
  }
  return order;
}

/** All vertices that can be reached from `start`, without `start` itself unless it is on a cycle. */
export function reachable(n: number, edges: [number, number][], start: number): Set<number> {
  const next = neighbours(n, edges);
  const seen = new Set<number>();
  const open = [start];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const to of next[at] ?? []) {
      if (!seen.has(to)) {
        seen.add(to);
        open.push(to);
      }
    }
  }
  return seen;
}

export function reverseEdges(edges: [number, number][]): [number, number][] {
  return edges.map(([from, to]) => [to, from]);
}

export interface DrawnGraph {
  /** A task by its ID, or a collapsed group. `members` are indexes of tasks. */
  nodes: { id: string; label: string; task?: number; group?: string; members: number[] }[];
  edges: [number, number][];
}

/** Replaces each collapsed group by a single node. */
export function fold(graph: TaskGraph, groups: string[], isCollapsed: (group: string) => boolean): DrawnGraph {
  const nodes: DrawnGraph["nodes"] = [];
  const drawnIndex: number[] = [];
  const groupIndexes = new Map<string, number>();
  graph.tasks.forEach((task, at) => {
    const group = groups[at] ?? "";
    if (group && isCollapsed(group)) {
      const existing = groupIndexes.get(group);
      if (existing !== undefined) {
        nodes[existing]?.members.push(at);
        drawnIndex[at] = existing;
        return;
      }
      groupIndexes.set(group, nodes.length);
      nodes.push({ id: `group:${group}`, label: group, group, members: [at] });
    } else {
      nodes.push({ id: task.id, label: task.id, task: at, members: [at] });
    }
    drawnIndex[at] = nodes.length - 1;
  });
  const seen = new Set<string>();
  const edges: [number, number][] = [];
  for (const [from, to] of graph.edges) {
    const [a, b] = [drawnIndex[from] ?? 0, drawnIndex[to] ?? 0];
    if (a !== b && !seen.has(`${a} ${b}`)) {
      seen.add(`${a} ${b}`);
      edges.push([a, b]);
    }
  }
  return { nodes, edges };
}
