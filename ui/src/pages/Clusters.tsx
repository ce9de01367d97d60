import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, data, page, type Schemas } from "../api/client";
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
      {all.length > 0 && shown.length === 0 && <Empty title={`No cluster matches “${search}”`} />}
      <ul className="cards">
        {shown.map((cluster) => (
          <li key={cluster.id}>
            <Card cluster={cluster} release={names.get(cluster.release_id) ?? ""} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Card({ cluster, release }: { cluster: Schemas["Cluster"]; release: string }) {
  const id = cluster.id;
  const nodes = useQuery({
    queryKey: ["nodes", id, "count"],
    queryFn: () => page(api.GET("/api/v1/nodes", { params: { query: { cluster_id: String(id), limit: 1 } } })),
  });
  const offline = useQuery({
    queryKey: ["nodes", id, "offline"],
    queryFn: () =>
      page(api.GET("/api/v1/nodes", { params: { query: { cluster_id: String(id), online: "0", limit: 1 } } })),
  });
  const last = useQuery({
    queryKey: ["runs", id, "last"],
    queryFn: () =>
      data(
        api.GET("/api/v1/transactions", {
          params: { query: { cluster_id: String(id), transaction_types: "deploy", limit: 1, order_by: "-id" } },
        }),
      ),
  });
  const run = last.data?.[0];
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
          {nodes.data ? nodes.data.total.toLocaleString("en-US") : "…"}
          {offline.data && nodes.data && nodes.data.total > 0 && (
            <span className="muted">{offline.data.total > 0 ? `, ${offline.data.total.toLocaleString("en-US")} offline` : ", all online"}</span>
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
            <span className="muted">{last.isPending ? "…" : "never"}</span>
          )}
        </dd>
      </dl>
    </article>
  );
}
