import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, NavLink, Outlet, useNavigate, useOutletContext, useParams } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { usePermission } from "../../app/identity";
import { Loading } from "../../components/Loading";
import { PageHead } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { statusOfCluster } from "../../lib/status";
import { PlanDialog } from "./PlanDialog";

export interface ClusterContext {
  cluster: Schemas["Cluster"];
  /** Opens the dialog that creates a plan. */
  plan: () => void;
}

export function useCluster(): Schemas["Cluster"] {
  return useOutletContext<ClusterContext>().cluster;
}

const TABS: [path: string, name: string][] = [
  ["", "Overview"],
  ["nodes", "Nodes"],
  ["settings", "Settings"],
  ["plugins", "Plugins"],
  ["graphs", "Graphs"],
  ["plans", "Plans"],
  ["runs", "Runs"],
];

export default function Cluster() {
  const id = Number(useParams().id);
  const cluster = useQuery({
    queryKey: ["clusters", id],
    queryFn: () => data(api.GET("/api/v1/clusters/{id}", { params: { path: { id } } })),
  });
  const [isPlanning, setPlanning] = useState(false);
  const canOperate = usePermission("operate");
  const canPlan = usePermission("plan");
  if (cluster.isPending) return <Loading />;
  if (cluster.isError) {
    return (
      <div className="page">
        <Problem error={cluster.error} retry={() => void cluster.refetch()} />
        <Link to="/clusters">Go to clusters</Link>
      </div>
    );
  }
  const loaded = cluster.data;
  return (
    <div className="page">
      <PageHead
        title={loaded.name}
        crumbs={[["Clusters", "/clusters"]]}
        aside={<Status status={statusOfCluster(loaded.status)} label={loaded.status.replaceAll("_", " ")} />}
      >
        {canOperate && <ActiveRun cluster={loaded} />}
        {canPlan && (
          <button type="button" className="button primary" onClick={() => setPlanning(true)}>
            Create plan…
          </button>
        )}
      </PageHead>
      <nav className="tabs" aria-label="Cluster">
        {TABS.map(([path, name]) => (
          <NavLink key={path} to={path} end={path === ""} className={({ isActive }) => (isActive ? "active" : "")}>
            {name}
          </NavLink>
        ))}
      </nav>
      <Outlet context={{ cluster: loaded, plan: () => setPlanning(true) } satisfies ClusterContext} />
      {isPlanning && <PlanDialog cluster={loaded} onClose={() => setPlanning(false)} />}
    </div>
  );
}

/** Button that opens the active run of the cluster; nothing if there is none. */
function ActiveRun({ cluster }: { cluster: Schemas["Cluster"] }) {
  const navigate = useNavigate();
  const active = useQuery({
    queryKey: ["runs", cluster.id, "active"],
    queryFn: () =>
      data(
        api.GET("/api/v1/transactions", {
          params: {
            query: { cluster_id: String(cluster.id), statuses: "pending,running", transaction_types: "deploy", limit: 1 },
          },
        }),
      ),
    refetchInterval: 10_000,
  });
  const run = active.data?.[0];
  const open = useMutation({ mutationFn: async (to: number) => navigate(`/runs/${to}`) });
  if (!run) return null;
  return (
    <button type="button" className="button" onClick={() => open.mutate(run.id)}>
      <Status status="running" /> Run #{run.id}
    </button>
  );
}
