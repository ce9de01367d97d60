// Words for what changes when a cluster moves to another release.
import type { Schemas } from "../api/client";
import { truncate } from "./json";

export interface TaskChanges {
  title: string;
  tasks: { id: string; fields?: string }[];
}

/** Differences of one graph; kinds without tasks are omitted. */
export function graphChanges(graph: Schemas["GraphMove"]): TaskChanges[] {
  const named = (ids: string[]) => ids.map((id) => ({ id }));
  const changed = graph.changed.map((task) => ({ id: task.id, fields: task.fields.join(", ") }));
  const all = [
    { title: "Added", tasks: named(graph.added) },
    { title: "Removed", tasks: named(graph.removed) },
    { title: "Changed", tasks: changed },
  ];
  return all.filter(({ tasks }) => tasks.length > 0);
}

const SETTING_CHANGES: Record<string, string> = {
  kept: "value is kept",
  dropped: "no longer a setting",
  replaced: "set to the default",
  added: "new setting",
  defaulted: "new default",
};

export function settingChange(setting: Schemas["SettingMove"]): string {
  const change = SETTING_CHANGES[setting.change] ?? setting.change;
  return setting.reason ? `${change}: ${setting.reason}` : change;
}

/** Value of a setting as one line; a dash where the server sends none, as for secrets. */
export function settingValue(value: unknown): string {
  return value == null ? "–" : truncate(value, 80);
}

const PLUGIN_CHANGES: Record<string, string> = {
  kept: "stays enabled",
  incompatible: "enabled, but no installed version supports the new release",
  available: "can be enabled with the new release",
  unavailable: "cannot be enabled with the new release",
};

export function pluginChange(plugin: Schemas["PluginMove"]): string {
  if (plugin.change === "replaced") return `replaced by ${plugin.new_version ?? "another version"}`;
  return PLUGIN_CHANGES[plugin.change] ?? plugin.change;
}
