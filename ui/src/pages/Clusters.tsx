import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, data, type Schemas } from "../api/client";
import { useMay } from "../app/identity";
import { LoadingRows } from "../components/Loading";
import { Empty, PageHead } from "../components/PageHead";
import { Problem } from "../components/Problem";
import { Status } from "../components/Status";
import { Time } from "../components/Time";
import { useParam } from "../lib/params";
import { statusOfCluster, statusOfRun } from "../lib/status";

export default function Clusters() {
  const clusters = useQuery({ queryKey: ["clusters"], queryFn: () => data(api.GET("/api/v1/clusters")) });
  const releases = useQuery({ queryKey: ["releases"], queryFn: () => data(api.GET("/api/v1/releases")) });
  // One question for all cards: a cluster may have thousands of nodes.
  const overview = useQuery({
    queryKey: ["clusters", "overview"],
    queryFn: () => data(api.GET("/api/v1/clusters/overview")),
  });
  const overviews = new Map(overview.data?.map((each) => [each.id, each]));
  const [search, setSearch] = useParam("q", "");
  const mayOperate = useMay("operate");
  const names = new Map(releases.data?.map((release) => [release.id, `${release.name} ${release.version}`]));
  const all = clusters.data ?? [];
  const shown = all.filter((cluster) =>
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
        {mayOperate && (
          <Link to="/clusters/new" className="button primary">
            New cluster
          </Link>
        )}
      </PageHead>
      {clusters.isPending && <LoadingRows />}
      {clusters.isError && <Problem error={clusters.error} retry={() => void clusters.refetch()} />}
      {clusters.isSuccess && all.length === 0 && (
        <Empty title="No clusters yet">
          <p>
            {releases.data?.length === 0
              ? <>A cluster is made from a release. Add one first: <code>stoker release create --file release.yaml</code></>
              : "A cluster is made from a release. Press New cluster, choose one and say what it should have."}
          </p>
        </Empty>
      )}
      {overview.isError && <Problem error={overview.error} retry={() => void overview.refetch()} />}
      {all.length > 0 && shown.length === 0 && <Empty title={`No cluster matches “${search}”`} />}
      <ul className="cards">
        {shown.map((cluster) => (
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
  const n_offline = overview ? overview.n_nodes - overview.n_online : 0;
  return (
    <article className="card stack tight" aria-label={`Cluster ${cluster.name}`} data-row>
      <div className="row">
        <h2 className="grow ellipsis">
          <Link to={`/clusters/${id}`}>{cluster.name}</Link>
        </h2>
        <Status status={statusOfCluster(cluster.status)} word={cluster.status.replaceAll("_", " ")} />
      </div>
      <p className="muted ellipsis" title={release}>
        {release}
      </p>
      <dl className="facts">
        <dt>Nodes</dt>
        <dd>
          {overview ? overview.n_nodes.toLocaleString("en-US") : "…"}
          {overview && overview.n_nodes > 0 && (
            <span className="muted">{n_offline > 0 ? `, ${n_offline.toLocaleString("en-US")} offline` : ", all online"}</span>
          )}
        </dd>
        <dt>Last run</dt>
        <dd>
          {run ? (
            <span className="row">
              <Link to={`/runs/${run.id}`}>#{run.id}</Link>
              <Status status={statusOfRun(run.status, run.message)} />
              <Time at={run.time_end ?? run.time_start} />
            </span>
          ) : (
            <span className="muted">{overview ? "never" : "…"}</span>
          )}
        </dd>
      </dl>
    </article>
  );
}
