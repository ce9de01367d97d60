// Filters of node lists. The server filters and paginates.
import type { Schemas } from "../api/client";

export type Node = Schemas["Node"];
export type NodeKinds = Schemas["NodeKinds"];

export interface NodeFilter {
  /** Cluster ID, or empty for unassigned nodes. */
  cluster: number | "";
  search: string;
  role: string;
  status: string;
  online: string;
  label: string;
}

/** Query parameters of the REST API. Empty filters are left out. */
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

/** Labels as `name=value`, or only the name if there is no value. */
export function labelsOf(node: Node): string[] {
  return Object.entries(node.labels ?? {}).map(([name, value]) => (value == null || value === "" ? name : `${name}=${value}`));
}

/** Options of a filter: the keys of `counts` in natural order. */
export function filterOptions(counts: Record<string, number> | undefined): string[] {
  return Object.keys(counts ?? {}).toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));
}
