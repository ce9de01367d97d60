import type { Schemas } from "../api/client";
import { count } from "./format";

export interface GraphRow {
  type: string;
  release?: string;
  cluster?: string;
  plugins?: string;
  filter?: string;
}

/** Groups graphs into one row per graph type, with one column per layer. */
export function graphRows(graphs: Schemas["Graph"][]): GraphRow[] {
  const rows = new Map<string, GraphRow & { nPlugins: number; nPluginTasks: number }>();
  const rowOf = (type: string) => {
    const row = rows.get(type) ?? { type, nPlugins: 0, nPluginTasks: 0 };
    rows.set(type, row);
    return row;
  };
  rowOf("default");
  for (const graph of graphs) {
    const row = rowOf(graph.type);
    const tasks = count(graph.tasks.length, "task");
    const model = graph.relations[0]?.model;
    if (model === "release") row.release = tasks;
    else if (model === "cluster") row.cluster = tasks;
    else {
      row.nPlugins += 1;
      row.nPluginTasks += graph.tasks.length;
      row.plugins = `${count(row.nPluginTasks, "task")} from ${count(row.nPlugins, "plugin")}`;
    }
    row.filter = graph.node_filter ?? row.filter;
  }
  return [...rows.values()].toSorted((a, b) => Number(b.type === "default") - Number(a.type === "default") || (a.type < b.type ? -1 : 1));
}
