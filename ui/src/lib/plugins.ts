import type { Schemas } from "../api/client";
import { asMap } from "./json";

export interface PluginRow {
  name: string;
  title: string;
  description: string;
  isEnabled: boolean;
  isHotpluggable: boolean;
  chosenId: number;
  versions: { id: number; version: string }[];
  /** Its place among those that are merged. */
  order?: number;
}

/** Plugins that fit a cluster, in the order in which they are merged: by name, then by version. */
export function pluginsOf(editable: Record<string, unknown>, all: Schemas["Plugin"][]): PluginRow[] {
  let n = 0;
  return Object.entries(editable)
    .filter(([, section]) => asMap(asMap(section).metadata).class === "plugin")
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, section]) => {
      const metadata = asMap(asMap(section).metadata);
      const listed = Array.isArray(metadata.versions) ? metadata.versions : [];
      const versions = listed.map((one) => {
        const about = asMap(asMap(one).metadata);
        return { id: Number(about.plugin_id), version: String(about.plugin_version) };
      });
      const chosenId = Number(metadata.chosen_id ?? versions[0]?.id ?? 0);
      const plugin = all.find((one) => one.id === chosenId) ?? all.find((one) => one.name === name);
      const isEnabled = metadata.enabled === true;
      if (isEnabled) n += 1;
      return {
        name,
        title: plugin?.title ?? String(metadata.label ?? name),
        description: plugin?.description ?? "",
        isHotpluggable: plugin?.is_hotpluggable ?? false,
        isEnabled,
        chosenId,
        versions,
        order: isEnabled ? n : undefined,
      };
    });
}
