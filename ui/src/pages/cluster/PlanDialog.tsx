import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { Confirm } from "../../components/Confirm";

/** What to plan. Nothing is run: the plan is looked at first. */
export function PlanDialog({ cluster, nodes, onClose }: {
  cluster: Schemas["Cluster"];
  /** Only on these; all that the graph chooses if not given. */
  nodes?: number[];
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const [type, setType] = useState("default");
  const [tasks, setTasks] = useState("");
  const [force, setForce] = useState(false);
  const graphs = useQuery({
    queryKey: ["clusters", cluster.id, "graph-types"],
    queryFn: () => graphTypes(cluster),
  });
  const plan = useMutation({
    mutationFn: () => {
      const names = tasks.split(/[\s,]+/).filter(Boolean);
      const body: Schemas["NewPlanBody"] = { graph_type: type, force };
      if (nodes) body.nodes = nodes;
      if (names.length > 0) body.tasks = names;
      return data(api.POST("/api/v1/clusters/{id}/plans", { params: { path: { id: cluster.id } }, body }));
    },
    onSuccess: (made) => navigate(`/plans/${made.id}`),
  });
  return (
    <Confirm
      title={`Plan a run of ${cluster.name}`}
      action={plan.isPending ? "Planning…" : "Plan"}
      isBusy={plan.isPending}
      error={plan.error ?? undefined}
      onConfirm={() => plan.mutate()}
      onClose={onClose}
    >
      <p className="muted">A plan says what would run, where and why. It changes nothing.</p>
      <div className="field">
        <label htmlFor="plan-type">Graph</label>
        <select id="plan-type" value={type} onChange={(event) => setType(event.target.value)}>
          {(graphs.data ?? ["default"]).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor="plan-tasks">Only these tasks</label>
        <input
          id="plan-tasks"
          type="text"
          placeholder="all"
          value={tasks}
          onChange={(event) => setTasks(event.target.value)}
        />
        <span className="hint">Names, separated by commas. Empty: all of the graph.</span>
      </div>
      <label className="check">
        <input type="checkbox" checked={force} onChange={(event) => setForce(event.target.checked)} />
        <span>
          Forget what succeeded before
          <br />
          <span className="muted small-text">Everything counts as changed, as on the first run.</span>
        </span>
      </label>
      {nodes && <p>On {nodes.length === 1 ? "1 node" : `${nodes.length} nodes`}: {nodes.join(", ")}</p>}
    </Confirm>
  );
}

/** Of the cluster and of its release. */
export async function graphTypes(cluster: Schemas["Cluster"]): Promise<string[]> {
  const own = await data(api.GET("/api/v1/clusters/{id}/deployment_graphs", { params: { path: { id: cluster.id } } }));
  const released = await data(
    api.GET("/api/v1/releases/{id}/deployment_graphs", { params: { path: { id: cluster.release_id } } }),
  );
  const types = new Set([...released, ...own].map((graph) => graph.type));
  types.delete("default");
  return ["default", ...[...types].toSorted()];
}
