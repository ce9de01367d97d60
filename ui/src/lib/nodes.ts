// Which nodes a list shows. The server filters; a list holds what is on screen.
import type { Schemas } from "../api/client";

export type Node = Schemas["Node"];
export type NodeKinds = Schemas["NodeKinds"];

export interface NodeFilter {
  /** A cluster, or nothing: nodes of no cluster. */
  cluster: number | "";
  search: string;
  role: string;
  status: string;
  online: string;
  label: string;
}

/** As the server wants it; what is not said filters nothing. */
export function nodeQuery({ cluster, search, role, status, online, label }: NodeFilter) {
  return {
    cluster_id: String(cluster),
    ...(search.trim() && { search: search.trim() }),
    ...(role && { roles: role }),
    ...(status && { status }),
    ...(online && { online: online === "yes" ? "1" : "0" }),
    ...(label && { labels: label }),
  };
}

export function hasFilter({ search, role, status, online, label }: NodeFilter): boolean {
  return [search.trim(), role, status, online, label].some((text) => text !== "");
}

/** `rack=7`, or the name alone where there is no value. */
export function labelsOf(node: Node): string[] {
  return Object.entries(node.labels ?? {}).map(([name, value]) => (value == null || value === "" ? name : `${name}=${value}`));
}

/** Values that occur, for a filter. */
export function choices(counted: Record<string, number> | undefined): string[] {
  return Object.keys(counted ?? {}).toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));
}
