import { useMutation, useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { usePermission } from "../../app/identity";
import { Confirm } from "../../components/Confirm";
import { Loading } from "../../components/Loading";
import { Matrix, type Cell, type Window } from "../../components/Matrix";
import { PageHead } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { Time } from "../../components/Time";
import { useClusterName } from "../../lib/clusterNames";
import { count, duration } from "../../lib/format";
import { useParam, useSetParams } from "../../lib/params";
import { onlyTriggered, PLANNED_LABELS, PLANNED_STATUSES } from "../../lib/plans";
import { Changes } from "./Changes";
import { InstancePanel } from "./InstancePanel";
import { Notes } from "./Notes";

const VIEWS: [string, string][] = [
  ["changes", "Changes"],
  ["matrix", "Matrix"],
];

export default function Plan() {
  const id = Number(useParams().id);
  const path = { params: { path: { id } } };
  const plan = useQuery({ queryKey: ["plans", "by-id", id], queryFn: () => data(api.GET("/api/v1/plans/{id}", path)) });
  const changes = useQuery({ queryKey: ["plans", "by-id", id, "changes"], queryFn: () => data(api.GET("/api/v1/plans/{id}/changes", path)) });
  if (plan.isPending) return <Loading />;
  if (plan.isError) {
    return (
      <div className="page">
        <Problem error={plan.error} retry={() => void plan.refetch()} />
      </div>
    );
  }
  return <PlanView plan={plan.data} changes={changes.data} />;
}

function PlanView({ plan, changes }: { plan: Schemas["PlanSummary"]; changes?: Schemas["PlanChanges"] }) {
  const [search, setSearch] = useParam("q", "");
  const [show, setShow] = useParam("show", "runs");
  const [task] = useParam("task", "");
  const [node] = useParam("node", "");
  const setParams = useSetParams();
  const [isApplying, setApplying] = useState(false);
  const [view, setView] = useParam("view", task ? "matrix" : "changes");
  const canPlan = usePermission("plan");
  const canOperate = usePermission("operate");
  const refusal = reasonNotToApply(plan, canOperate, changes);
  const load = useCallback(
    (window: Window) =>
      data(
        api.GET("/api/v1/plans/{id}/matrix", {
          params: { path: { id: plan.id }, query: { ...window, ...(search && { search }), ...(show === "runs" && { runs_only: "1" }) } },
        }),
      ),
    [plan.id, search, show],
  );
  const select = useCallback((cell: Cell) => setParams({ task: cell.task, node: cell.node }), [setParams]);
  const nNodes = countNodes(plan);
  const name = useClusterName(plan.cluster);
  const isOpen = task !== "" && node !== "";
  return (
    <div className="page full plan">
      <PageHead
        title={`Plan #${plan.id}`}
        crumbs={[
          ["Clusters", "/clusters"],
          [name, `/clusters/${plan.cluster}`],
          ["Plans", `/clusters/${plan.cluster}/plans`],
        ]}
        aside={
          <span className="muted">
            graph {plan.graph_type}, by {plan.created_by}, <Time at={plan.created_at} />
          </span>
        }
      >
        <Link className="button" to={`/clusters/${plan.cluster}/graphs/${encodeURIComponent(plan.graph_type)}`}>
          Show graph
        </Link>
        {canPlan && !canOperate && <span className="muted">Applying requires the operator role</span>}
        {canPlan && (
          <button type="button" className="button primary" disabled={refusal !== undefined} title={refusal} onClick={() => setApplying(true)}>
            Apply plan…
          </button>
        )}
      </PageHead>
      <div className="stats">
        <Stat n={plan.n_run} name={`to run${onlyTriggered(plan)}`} />
        <Stat n={plan.n_skip} name="to skip" />
        <Stat n={plan.tasks.filter((task) => task.n_run > 0).length} name={`of ${count(plan.tasks.length, "task")} run`} />
        <div className="stat">
          <strong>{plan.estimate.n_known > 0 ? `≈ ${duration(plan.estimate.total_ms)}` : "–"}</strong>
          <span>{plan.estimate.n_known > 0 ? "estimated from earlier runs" : "no earlier runs to estimate from"}</span>
        </div>
        <Notes plan={plan} />
      </div>
      {changes?.is_current === false && (
        <div className="problem warning" role="status">
          <strong>Outdated plan.</strong> Changed since it was created: {changes.changes.slice(0, 5).join("; ")}
          {changes.changes.length > 5 && ` and ${changes.changes.length - 5} more`}.{" "}
          <Link to={`/clusters/${plan.cluster}`}>Create a new plan</Link>
        </div>
      )}
      <div className="toolbar">
        <div className="tabs" role="tablist" aria-label="View">
          {VIEWS.map(([name, title]) => (
            <button key={name} type="button" role="tab" aria-selected={view === name} onClick={() => setView(name)}>
              {title}
            </button>
          ))}
        </div>
        {view === "matrix" && (
          <>
            <input type="search" aria-label="Search tasks" placeholder="Search tasks" value={search} onChange={(event) => setSearch(event.target.value)} />
            <select aria-label="Task instances to show" value={show} onChange={(event) => setShow(event.target.value)}>
              <option value="runs">Instances that run</option>
              <option value="all">All instances</option>
            </select>
            <span className="legend" aria-label="Legend">
              {PLANNED_STATUSES.map((name) => (
                <Status key={name} status={name} label={PLANNED_LABELS[name]} />
              ))}
            </span>
            <span className="muted">Select a cell to see its reason.</span>
          </>
        )}
      </div>
      {view !== "matrix" && <Changes plan={plan} />}
      {view === "matrix" && (
        <div className={`withpanel${isOpen ? " open" : ""}`}>
          <Matrix
            label="Planned action of each task on each node"
            queryKey={["plans", "by-id", plan.id, "matrix", search, show]}
            load={load}
            selected={isOpen ? { task, node } : undefined}
            select={select}
            labels={PLANNED_LABELS}
          />
          {isOpen && <InstancePanel planId={plan.id} clusterId={plan.cluster} graphType={plan.graph_type} task={task} node={node} close={() => select({ task: "", node: "" })} />}
        </div>
      )}
      {isApplying && <ApplyDialog plan={plan} name={name} nNodes={nNodes} onClose={() => setApplying(false)} />}
    </div>
  );
}

/** Why the plan cannot be applied; undefined if it can. */
function reasonNotToApply(plan: Schemas["PlanSummary"], canOperate: boolean, changes?: Schemas["PlanChanges"]): string | undefined {
  if (!canOperate) return "Applying a plan requires the operator role";
  if (plan.n_run === 0 && plan.removals.length === 0) return "No task instances to run";
  return changes?.is_current === false ? "The plan is outdated" : undefined;
}

function Stat({ n, name }: { n: number; name: string }) {
  return (
    <div className="stat">
      <strong>{n.toLocaleString("en-US")}</strong>
      <span>{name}</span>
    </div>
  );
}

/** Number of nodes in the plan request; undefined if the request did not limit the nodes. */
function countNodes(plan: Schemas["PlanSummary"]): number | undefined {
  const requested = (plan.request as { nodes?: unknown }).nodes;
  return Array.isArray(requested) ? requested.length : undefined;
}

function ApplyDialog({ plan, name, nNodes, onClose }: { plan: Schemas["PlanSummary"]; name: string; nNodes?: number; onClose: () => void }) {
  const navigate = useNavigate();
  const [onFailure, setOnFailure] = useState("node_stops");
  const [maxNodes, setMaxNodes] = useState("");
  const [noop, setNoop] = useState(false);
  const apply = useMutation({
    mutationFn: () =>
      data(
        api.POST("/api/v1/plans/{id}/apply", {
          params: { path: { id: plan.id } },
          body: { on_failure: onFailure, noop_run: noop, ...(maxNodes && { nodes_at_once: Number(maxNodes) }) },
        }),
      ),
    onSuccess: (run) => navigate(`/runs/${run.id}`),
  });
  const where = nNodes === undefined ? "" : ` on ${count(nNodes, "node")}`;
  return (
    <Confirm
      title={`Apply plan #${plan.id} to ${name}?`}
      action={apply.isPending ? "Starting…" : noop ? "Start noop run" : "Apply plan"}
      isBusy={apply.isPending}
      error={apply.error ?? undefined}
      onConfirm={() => apply.mutate()}
      onClose={onClose}
    >
      <p>
        {count(plan.n_run, "task instance")} will run{onlyTriggered(plan)}{where}
        {plan.removals.length > 0 && `, and ${count(plan.removals.length, "node")} will leave the cluster`}. If the inputs of the plan have changed since it was created, the server rejects it and nothing runs.
      </p>
      <div className="field">
        <label htmlFor="on-failure">If a task fails</label>
        <select id="on-failure" value={onFailure} onChange={(event) => setOnFailure(event.target.value)}>
          <option value="node_stops">Stop its node, continue the others</option>
          <option value="node_continues">Continue its node with independent tasks</option>
        </select>
      </div>
      <div className="field">
        <label htmlFor="max-nodes">Maximum concurrent nodes</label>
        <input id="max-nodes" type="number" min={1} placeholder="Server default" value={maxNodes} onChange={(event) => setMaxNodes(event.target.value)} />
      </div>
      <label className="check">
        <input type="checkbox" checked={noop} onChange={(event) => setNoop(event.target.checked)} />
        <span>Noop run: agents report what tasks would do and change nothing</span>
      </label>
    </Confirm>
  );
}
