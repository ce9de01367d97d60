import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useNavigate } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { Confirm } from "../../components/Confirm";

/** Creates a plan and opens it for review. Does not start a run. */
export function PlanDialog({ cluster, nodes, onClose }: {
  cluster: Schemas["Cluster"];
  /** IDs of the nodes to plan for; by default, the nodes that the graph selects. */
  nodes?: number[];
  onClose: () => void;
}) {
  const navigate = useNavigate();
  const [type, setType] = useState("default");
  const [tasks, setTasks] = useState("");
  const [force, setForce] = useState(false);
  const [ignoresLimits, setIgnoresLimits] = useState(false);
  const graphs = useQuery({
    queryKey: ["clusters", cluster.id, "graph-types"],
    queryFn: () => graphTypes(cluster),
  });
  const plan = useMutation({
    mutationFn: () => {
      const names = tasks.split(/[\s,]+/).filter(Boolean);
      const body: Schemas["NewPlanBody"] = { graph_type: type, force, ignore_limits: ignoresLimits };
      if (nodes) body.nodes = nodes;
      if (names.length > 0) body.tasks = names;
      return data(api.POST("/api/v1/clusters/{id}/plans", { params: { path: { id: cluster.id } }, body }));
    },
    onSuccess: (created) => navigate(`/plans/${created.id}`),
  });
  return (
    <Confirm
      title={`New plan for ${cluster.name}`}
      action={plan.isPending ? "Creating plan…" : "Create plan"}
      isBusy={plan.isPending}
      error={plan.error ?? undefined}
      onConfirm={() => plan.mutate()}
      onClose={onClose}
    >
      <p className="muted">A plan shows what would run, where and why. Creating it changes nothing on the nodes.</p>
      <div className="field">
        <label htmlFor="plan-type">Graph type</label>
        <select id="plan-type" value={type} onChange={(event) => setType(event.target.value)}>
          {(graphs.data ?? ["default"]).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor="plan-tasks">Tasks</label>
        <input
          id="plan-tasks"
          type="text"
          placeholder="all"
          value={tasks}
          onChange={(event) => setTasks(event.target.value)}
        />
        <span className="hint">Task names, separated by commas. Leave empty for all tasks of the graph.</span>
      </div>
      <label className="check">
        <input type="checkbox" checked={force} onChange={(event) => setForce(event.target.checked)} />
        <span>
          Ignore the applied state
          <br />
          <span className="muted small-text">Plans every task as if it had never succeeded.</span>
        </span>
      </label>
      <label className="check">
        <input
          type="checkbox"
          checked={ignoresLimits}
          onChange={(event) => setIgnoresLimits(event.target.checked)}
        />
        <span>
          Ignore limits of roles
          <br />
          <span className="muted small-text">Plans although roles have fewer nodes than their minimum.</span>
        </span>
      </label>
      {nodes && <p>Limited to {nodes.length === 1 ? "1 node" : `${nodes.length} nodes`}: {nodes.join(", ")}</p>}
    </Confirm>
  );
}

/** Graph types of the cluster and its release, `default` first. */
export async function graphTypes(cluster: Schemas["Cluster"]): Promise<string[]> {
  const clusterGraphs = await data(api.GET("/api/v1/clusters/{id}/deployment_graphs", { params: { path: { id: cluster.id } } }));
  const releaseGraphs = await data(
    api.GET("/api/v1/releases/{id}/deployment_graphs", { params: { path: { id: cluster.release_id } } }),
  );
  const types = new Set([...releaseGraphs, ...clusterGraphs].map((graph) => graph.type));
  types.delete("default");
  return ["default", ...[...types].toSorted()];
}
