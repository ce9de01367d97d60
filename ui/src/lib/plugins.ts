import type { Schemas } from "../api/client";
import { asMap } from "./json";

export interface PluginRow {
  name: string;
  title: string;
  description: string;
  isEnabled: boolean;
  isHotpluggable: boolean;
  selectedId: number;
  versions: { id: number; version: string }[];
  /** 1-based position in the merge order of enabled plugins. */
  order?: number;
}

/** Plugins that are compatible with a cluster, in merge order, which is by name. */
export function pluginsOf(editable: Record<string, unknown>, all: Schemas["Plugin"][]): PluginRow[] {
  let nEnabled = 0;
  return Object.entries(editable)
    .filter(([, section]) => asMap(asMap(section).metadata).class === "plugin")
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, section]) => {
      const metadata = asMap(asMap(section).metadata);
      const listed = Array.isArray(metadata.versions) ? metadata.versions : [];
      const versions = listed.map((entry) => {
        const version = asMap(asMap(entry).metadata);
        return { id: Number(version.plugin_id), version: String(version.plugin_version) };
      });
      const selectedId = Number(metadata.chosen_id ?? versions[0]?.id ?? 0);
      const plugin = all.find((candidate) => candidate.id === selectedId) ?? all.find((candidate) => candidate.name === name);
      const isEnabled = metadata.enabled === true;
      if (isEnabled) nEnabled += 1;
      return {
        name,
        title: plugin?.title ?? String(metadata.label ?? name),
        description: plugin?.description ?? "",
        isHotpluggable: plugin?.is_hotpluggable ?? false,
        isEnabled,
        selectedId,
        versions,
        order: isEnabled ? nEnabled : undefined,
      };
    });
}
