import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, page } from "../../api/client";
import { DataTable } from "../../components/DataTable";
import { LoadingRows } from "../../components/Loading";
import { EmptyState } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { Time } from "../../components/Time";
import { useCluster } from "./Cluster";

export default function Plans() {
  const cluster = useCluster();
  const plans = useQuery({
    queryKey: ["plans", cluster.id],
    queryFn: () =>
      page(
        api.GET("/api/v1/clusters/{id}/plans", {
          params: { path: { id: cluster.id }, query: { order_by: "-id", limit: 200 } },
        }),
      ),
  });
  if (plans.isPending) return <LoadingRows />;
  if (plans.isError) return <Problem error={plans.error} retry={() => void plans.refetch()} />;
  if (plans.data.items.length === 0) {
    return <EmptyState title="No plans yet">A plan shows what would run, where and why. Select Create plan… above.</EmptyState>;
  }
  return (
    <DataTable
      label="Plans"
      rows={plans.data.items}
      rowKey={(plan) => plan.id}
      columns={[
        { id: "id", name: "Plan", cell: (plan) => <Link to={`/plans/${plan.id}`}>#{plan.id}</Link>, sort: (plan) => plan.id },
        { id: "type", name: "Graph type", cell: (plan) => plan.graph_type, sort: (plan) => plan.graph_type },
        { id: "run", name: "To run", cell: (plan) => plan.n_run, sort: (plan) => plan.n_run, isNumber: true },
        { id: "skip", name: "To skip", cell: (plan) => plan.n_skip, sort: (plan) => plan.n_skip, isNumber: true },
        { id: "by", name: "Created by", cell: (plan) => plan.created_by, sort: (plan) => plan.created_by },
        { id: "at", name: "Created", cell: (plan) => <Time at={plan.created_at} />, sort: (plan) => plan.created_at },
      ]}
    />
  );
}
