import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, data, type Schemas } from "../api/client";
import { usePermission } from "../app/identity";
import { LoadingRows } from "../components/Loading";
import { EmptyState, PageHead } from "../components/PageHead";
import { Problem } from "../components/Problem";
import { RunStatus } from "../components/RunStatus";
import { Status } from "../components/Status";
import { Time } from "../components/Time";
import { useParam } from "../lib/params";
import { statusOfCluster } from "../lib/status";

export default function Clusters() {
  const clusters = useQuery({ queryKey: ["clusters"], queryFn: () => data(api.GET("/api/v1/clusters")) });
  const releases = useQuery({ queryKey: ["releases"], queryFn: () => data(api.GET("/api/v1/releases")) });
  // One request for all cards, with counts instead of nodes: a cluster may have thousands of nodes.
  const overview = useQuery({
    queryKey: ["clusters", "overview"],
    queryFn: () => data(api.GET("/api/v1/clusters/overview")),
    // Always refetch: other pages change nodes and runs.
    refetchOnMount: "always",
  });
  const overviews = new Map(overview.data?.map((entry) => [entry.id, entry]));
  const [search, setSearch] = useParam("q", "");
  const canOperate = usePermission("operate");
  const names = new Map(releases.data?.map((release) => [release.id, `${release.name} ${release.version}`]));
  const all = clusters.data ?? [];
  const matchingClusters = all.filter((cluster) =>
    `${cluster.name} ${names.get(cluster.release_id) ?? ""}`.toLowerCase().includes(search.toLowerCase()),
  );
  return (
    <div className="page">
      <PageHead title="Clusters">
        {all.length > 0 && (
          <input
            type="search"
            aria-label="Search clusters"
            placeholder="Search clusters"
            value={search}
            onChange={(event) => setSearch(event.target.value)}
          />
        )}
        {canOperate && (
          <Link to="/clusters/new" className="button primary">
            Create cluster…
          </Link>
        )}
      </PageHead>
      {clusters.isPending && <LoadingRows />}
      {clusters.isError && <Problem error={clusters.error} retry={() => void clusters.refetch()} />}
      {clusters.isSuccess && all.length === 0 && (
        <EmptyState title="No clusters yet">
          <p>
            {releases.data?.length === 0
              ? <>A cluster is created from a release. Add a release first: <code>stoker release create --file release.yaml</code></>
              : "A cluster is created from a release. Select Create cluster… to start the wizard."}
          </p>
        </EmptyState>
      )}
      {overview.isError && <Problem error={overview.error} retry={() => void overview.refetch()} />}
      {all.length > 0 && matchingClusters.length === 0 && <EmptyState title={`No clusters match “${search}”`}>Change or clear the search above.</EmptyState>}
      <ul className="cards">
        {matchingClusters.map((cluster) => (
          <li key={cluster.id}>
            <Card cluster={cluster} overview={overviews.get(cluster.id)} release={names.get(cluster.release_id) ?? ""} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Card({ cluster, overview, release }: {
  cluster: Schemas["Cluster"];
  overview: Schemas["ClusterOverview"] | undefined;
  release: string;
}) {
  const id = cluster.id;
  const run = overview?.last_run;
  const nOffline = overview ? overview.n_nodes - overview.n_online : 0;
  return (
    <article className="card stack tight" aria-label={`Cluster ${cluster.name}`} data-row>
      <div className="row">
        <h2 className="grow ellipsis">
          <Link to={`/clusters/${id}`}>{cluster.name}</Link>
        </h2>
        <Status status={statusOfCluster(cluster.status)} label={cluster.status.replaceAll("_", " ")} />
      </div>
      <p className="muted ellipsis" title={release}>
        {release}
      </p>
      <dl className="facts">
        <dt>Nodes</dt>
        <dd>
          {overview ? overview.n_nodes.toLocaleString("en-US") : "…"}
          {overview && overview.n_nodes > 0 && (
            <span className="muted">{nOffline > 0 ? `, ${nOffline.toLocaleString("en-US")} offline` : ", all online"}</span>
          )}
        </dd>
        <dt>Last run</dt>
        <dd>
          {run ? (
            <span className="row">
              <Link to={`/runs/${run.id}`}>#{run.id}</Link>
              <RunStatus run={run} />
              <Time at={run.time_end ?? run.time_start} />
            </span>
          ) : (
            <span className="muted">{overview ? "none" : "…"}</span>
          )}
        </dd>
      </dl>
    </article>
  );
}
