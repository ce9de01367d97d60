// Which nodes a list shows.
import type { Schemas } from "../api/client";

export type Node = Schemas["Node"];

export interface NodeFilter {
  search: string;
  role: string;
  status: string;
  online: string;
  label: string;
}

/** Every word of the search must be somewhere in what is known of a node. */
export function matchesNode(node: Node, filter: NodeFilter): boolean {
  const roles = [...node.roles, ...node.pending_roles];
  if (filter.role && !roles.includes(filter.role)) return false;
  if (filter.status && node.status !== filter.status) return false;
  if (filter.online && node.online !== (filter.online === "yes")) return false;
  if (filter.label && !labelsOf(node).includes(filter.label)) return false;
  const text = [node.id, node.name, node.hostname, node.ip, node.mac, ...roles, ...labelsOf(node)].join(" ").toLowerCase();
  return filter.search.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

/** `rack=7`, or the name alone where there is no value. */
export function labelsOf(node: Node): string[] {
  return Object.entries(node.labels ?? {}).map(([name, value]) => (value == null || value === "" ? name : `${name}=${value}`));
}

/** Values that occur, for a filter. */
export function choices(nodes: Node[], of: (node: Node) => string[]): string[] {
  return [...new Set(nodes.flatMap(of))].toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }));
}
