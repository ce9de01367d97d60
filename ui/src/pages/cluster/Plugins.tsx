import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { usePermission } from "../../app/identity";
import { LoadingRows } from "../../components/Loading";
import { EmptyState } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { pluginsOf, type PluginRow } from "../../lib/plugins";
import { useCluster } from "./Cluster";
import { PluginOrder } from "./PluginOrder";

export default function Plugins() {
  const cluster = useCluster();
  const queries = useQueryClient();
  const canOperate = usePermission("operate");
  const path = { params: { path: { id: cluster.id } } };
  const key = ["clusters", cluster.id, "attributes"];
  const attributes = useQuery({ queryKey: key, queryFn: () => data(api.GET("/api/v1/clusters/{id}/attributes", path)) });
  const all = useQuery({ queryKey: ["plugins"], queryFn: () => data(api.GET("/api/v1/plugins")) });
  const change = useMutation({
    mutationFn: ({ name, enabled, id }: { name: string; enabled: boolean; id: number }) =>
      data(
        api.PUT("/api/v1/clusters/{id}/attributes", {
          ...path,
          body: { editable: { [name]: { metadata: { class: "plugin", enabled, chosen_id: id } } } },
        }),
      ),
    onSuccess: (saved) => {
      queries.setQueryData(key, saved);
      void queries.invalidateQueries({ queryKey: ["graph", cluster.id] });
    },
  });
  if (attributes.isPending || all.isPending) return <LoadingRows />;
  if (attributes.isError) return <Problem error={attributes.error} retry={() => void attributes.refetch()} />;
  if (all.isError) return <Problem error={all.error} retry={() => void all.refetch()} />;
  const rows = pluginsOf((attributes.data.editable ?? {}) as Record<string, unknown>, all.data);
  if (rows.length === 0) {
    return <EmptyState title="No compatible plugins">Install a plugin with <code>stoker plugin install</code>.</EmptyState>;
  }
  return (
    <div className="stack">
      {change.isError && <Problem title="Plugin not changed" error={change.error} />}
      <p className="muted">
        Graphs of plugins are merged last, in the order of this list. If two plugins set the same attribute, the later one wins.
      </p>
      <div className="tablewrap">
        <table aria-label="Plugins">
          <thead>
            <tr>
              <th className="num">Order</th>
              <th>Plugin</th>
              <th>Enabled</th>
              <th>Version</th>
              <th>Description</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={row.name} row={row} isDisabled={!canOperate || change.isPending} set={(enabled, id) => change.mutate({ name: row.name, enabled, id })} />
            ))}
          </tbody>
        </table>
      </div>
      <PluginOrder clusterId={cluster.id} />
    </div>
  );
}

function Row({ row, isDisabled, set }: { row: PluginRow; isDisabled: boolean; set: (enabled: boolean, id: number) => void }) {
  return (
    <tr>
      <td className="num">{row.order ?? <span className="muted">–</span>}</td>
      <td>
        <strong>{row.title}</strong>
        <br />
        <span className="muted mono">{row.name}</span>
      </td>
      <td>
        <label className="check">
          <input
            type="checkbox"
            aria-label={`Enable ${row.title}`}
            checked={row.isEnabled}
            disabled={isDisabled}
            onChange={(event) => set(event.target.checked, row.selectedId)}
          />
          <span>{row.isEnabled ? "enabled" : "disabled"}</span>
        </label>
      </td>
      <td>
        {row.versions.length > 1 ? (
          <select aria-label={`Version of ${row.title}`} value={row.selectedId} disabled={isDisabled} onChange={(event) => set(row.isEnabled, Number(event.target.value))}>
            {row.versions.map((version) => (
              <option key={version.id} value={version.id}>
                {version.version}
              </option>
            ))}
          </select>
        ) : (
          row.versions[0]?.version
        )}
      </td>
      <td className="muted">
        {row.description}
        {row.isHotpluggable && " Can be enabled on a deployed cluster."}
      </td>
    </tr>
  );
}
