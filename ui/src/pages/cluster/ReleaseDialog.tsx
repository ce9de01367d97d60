import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { Confirm } from "../../components/Confirm";
import { LoadingRows } from "../../components/Loading";
import { Problem } from "../../components/Problem";
import { ReleaseChanges } from "./ReleaseChanges";

/** Moves a cluster to another release after showing what changes. */
export function ReleaseDialog({ cluster, plan, onClose }: { cluster: Schemas["Cluster"]; plan: () => void; onClose: () => void }) {
  const queries = useQueryClient();
  const [selected, setSelected] = useState<number>();
  const releases = useQuery({ queryKey: ["releases"], queryFn: () => data(api.GET("/api/v1/releases")) });
  const preview = useQuery({
    queryKey: ["release-preview", cluster.id, selected],
    queryFn: () => previewOf(cluster.id, selected ?? 0),
    enabled: selected !== undefined,
    // Settings and roles may have changed since the dialog was last open.
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const move = useMutation({
    mutationFn: (etag: string) =>
      data(
        api.PUT("/api/v1/clusters/{id}", {
          params: { path: { id: cluster.id }, header: { "If-Match": etag } },
          body: { release_id: selected },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["clusters"] }),
    // The server refuses a cluster that changed since the preview.
    onError: () => preview.refetch(),
  });
  if (move.isSuccess && preview.data) {
    const { to } = preview.data.changes;
    return (
      <Confirm title={`${cluster.name} has release ${to.name} ${to.version}`} action="Create plan…" cancel="Close" isBusy={false} onConfirm={plan} onClose={onClose}>
        <p>Nothing has run yet. A plan shows which tasks the new release runs, where and why.</p>
      </Confirm>
    );
  }
  const others = (releases.data ?? []).filter((release) => release.is_deployable && release.id !== cluster.release_id);
  const isRefused = preview.data !== undefined && preview.data.changes.errors.length > 0;
  return (
    <Confirm
      title={`Change the release of ${cluster.name}`}
      action={move.isPending ? "Changing release…" : "Change release"}
      isBusy={move.isPending || !preview.data || preview.isFetching || isRefused}
      error={move.error ?? undefined}
      onConfirm={() => preview.data && move.mutate(preview.data.etag)}
      onClose={onClose}
    >
      <p className="muted">Changes the configuration of the cluster. Nodes change when the next plan is applied.</p>
      {releases.isPending && <LoadingRows rows={1} />}
      {releases.isError && <Problem error={releases.error} retry={() => void releases.refetch()} />}
      {releases.isSuccess && others.length === 0 && <p>There is no other deployable release. Add one with <code>stoker release create</code>.</p>}
      {others.length > 0 && (
        <div className="field">
          <label htmlFor="new-release">New release</label>
          <select
            id="new-release"
            value={selected ?? ""}
            onChange={(event) => {
              move.reset();
              setSelected(Number(event.target.value));
            }}
          >
            <option value="" disabled>
              Select a release
            </option>
            {others.map((release) => (
              <option key={release.id} value={release.id}>
                {release.name} {release.version} ({release.operating_system})
              </option>
            ))}
          </select>
        </div>
      )}
      {selected !== undefined && preview.isPending && <LoadingRows rows={4} />}
      {preview.isError && <Problem error={preview.error} retry={() => void preview.refetch()} />}
      {preview.data && <ReleaseChanges changes={preview.data.changes} />}
    </Confirm>
  );
}

interface Preview {
  /** Version of the cluster that the preview is at most as old as. */
  etag: string;
  changes: Schemas["ReleaseMove"];
}

/** Reads the version of the cluster before the preview, so that a change in between refuses the move. */
async function previewOf(id: number, release: number): Promise<Preview> {
  const current = api.GET("/api/v1/clusters/{id}", { params: { path: { id } } });
  await data(current);
  const etag = (await current).response.headers.get("ETag") ?? "*";
  const changes = await data(api.POST("/api/v1/clusters/{id}/release/preview", { params: { path: { id } }, body: { release_id: release } }));
  return { etag, changes };
}
