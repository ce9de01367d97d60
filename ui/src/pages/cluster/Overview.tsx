import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useOutletContext } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { usePermission } from "../../app/identity";
import { LoadingRows } from "../../components/Loading";
import { Problem } from "../../components/Problem";
import { RunList } from "../../components/RunList";
import { Status } from "../../components/Status";
import { Time } from "../../components/Time";
import { statusOfNode } from "../../lib/status";
import type { ClusterContext } from "./Cluster";
import { Links } from "./Links";
import { nodeStats } from "./nodeQueries";
import { ReleaseDialog } from "./ReleaseDialog";

export default function Overview() {
  const { cluster, plan } = useOutletContext<ClusterContext>();
  const canOperate = usePermission("operate");
  const [isMoving, setMoving] = useState(false);
  const nodes = useQuery(nodeStats(cluster.id));
  const release = useQuery({
    queryKey: ["releases", cluster.release_id],
    queryFn: () => data(api.GET("/api/v1/releases/{id}", { params: { path: { id: cluster.release_id } } })),
  });
  return (
    <div className="stack">
      <div className="columns">
        <section className="card" aria-labelledby="details">
          <h2 id="details">Details</h2>
          <dl className="facts">
            <dt>Release</dt>
            <dd className="row">
              {release.data ? `${release.data.name} ${release.data.version}` : "…"}
              {canOperate && (
                <button type="button" className="button link" onClick={() => setMoving(true)}>
                  Change release…
                </button>
              )}
            </dd>
            <dt>Mode</dt>
            <dd>{cluster.mode}</dd>
            <dt>Components</dt>
            <dd>
              {cluster.components.length === 0 ? <span className="muted">none</span> : null}
              <span className="row">
                {cluster.components.map((name) => (
                  <span className="chip" key={name}>
                    {name}
                  </span>
                ))}
              </span>
            </dd>
            <dt>Merge order</dt>
            <dd>
              {cluster.merge_order ?? "release, cluster, plugins"}
              {cluster.merge_mode === "replace" && "; later tasks replace earlier ones"}
            </dd>
            <dt>Tenant</dt>
            <dd>{cluster.tenant ?? "–"}</dd>
            <dt>Settings</dt>
            <dd>{cluster.is_locked ? "locked" : <Link to="settings">editable</Link>}</dd>
            <dt>Created</dt>
            <dd>
              <Time at={cluster.created_at} />
            </dd>
          </dl>
        </section>
        <section className="card" aria-labelledby="nodes">
          <h2 id="nodes">Nodes</h2>
          {nodes.isPending && <LoadingRows rows={3} />}
          {nodes.isError && <Problem error={nodes.error} retry={() => void nodes.refetch()} />}
          {nodes.data && <NodeStats stats={nodes.data} />}
        </section>
        <Links clusterId={cluster.id} />
      </div>
      <section className="card" aria-labelledby="runs">
        <h2 id="runs">Latest runs</h2>
        <RunList clusterId={cluster.id} limit={8} />
      </section>
      {isMoving && (
        <ReleaseDialog
          cluster={cluster}
          plan={() => {
            setMoving(false);
            plan();
          }}
          onClose={() => setMoving(false)}
        />
      )}
    </div>
  );
}

function NodeStats({ stats }: { stats: Schemas["NodeKinds"] }) {
  if (stats.total === 0) {
    return (
      <p>
        No nodes yet. <Link to="nodes?show=free">Add nodes</Link>
      </p>
    );
  }
  const byCount = (counts: Record<string, number>) => Object.entries(counts).toSorted(([, a], [, b]) => b - a);
  return (
    <div className="stack tight">
      <div className="stats">
        <div className="stat">
          <strong>{stats.total}</strong>
          <span>nodes</span>
        </div>
        <div className="stat">
          <strong>{stats.online}</strong>
          <span>online</span>
        </div>
        <div className="stat">
          <strong>{stats.to_be_added}</strong>
          <span>to be added</span>
        </div>
      </div>
      <div className="row">
        {byCount(stats.statuses).map(([status, n]) => (
          <Link key={status} to={`nodes?status=${status}`}>
            <Status status={statusOfNode(status)} label={`${n} ${status}`} />
          </Link>
        ))}
      </div>
      <div className="row">
        {byCount(stats.roles).map(([role, n]) => (
          <Link key={role} to={`nodes?role=${encodeURIComponent(role)}`} className="chip">
            {role} {n}
          </Link>
        ))}
      </div>
    </div>
  );
}
