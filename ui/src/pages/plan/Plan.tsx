import { useMutation, useQuery } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { useMay } from "../../app/identity";
import { Confirm } from "../../components/Confirm";
import { Loading } from "../../components/Loading";
import { Matrix, type Chosen, type Window } from "../../components/Matrix";
import { PageHead } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { Time } from "../../components/Time";
import { useClusterName } from "../../lib/clusterNames";
import { count, duration } from "../../lib/format";
import { useParam, useSetParams } from "../../lib/params";
import { InstancePanel } from "./InstancePanel";
import { Notes } from "./Notes";

/** What is pending in a run is what a plan runs. */
const WORDS = { pending: "runs" };

export default function Plan() {
  const id = Number(useParams().id);
  const path = { params: { path: { id } } };
  const plan = useQuery({ queryKey: ["plans", "one", id], queryFn: () => data(api.GET("/api/v1/plans/{id}", path)) });
  const changes = useQuery({ queryKey: ["plans", "one", id, "changes"], queryFn: () => data(api.GET("/api/v1/plans/{id}/changes", path)) });
  if (plan.isPending) return <Loading />;
  if (plan.isError) {
    return (
      <div className="page">
        <Problem error={plan.error} retry={() => void plan.refetch()} />
      </div>
    );
  }
  return <Shown plan={plan.data} changes={changes.data} />;
}

function Shown({ plan, changes }: { plan: Schemas["PlanSummary"]; changes?: Schemas["PlanChanges"] }) {
  const [search, setSearch] = useParam("q", "");
  const [show, setShow] = useParam("show", "runs");
  const [task] = useParam("task", "");
  const [node] = useParam("node", "");
  const setParams = useSetParams();
  const [isApplying, setApplying] = useState(false);
  const mayOperate = useMay("operate");
  const load = useCallback(
    (window: Window) =>
      data(
        api.GET("/api/v1/plans/{id}/matrix", {
          params: { path: { id: plan.id }, query: { ...window, ...(search && { search }), ...(show === "runs" && { runs_only: "1" }) } },
        }),
      ),
    [plan.id, search, show],
  );
  const choose = useCallback((cell: Chosen) => setParams({ task: cell.task, node: cell.node }), [setParams]);
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
        <a className="button" href={`/clusters/${plan.cluster}/graphs/${plan.graph_type}`}>
          Graph
        </a>
        {mayOperate && (
          <button
            type="button"
            className="button primary"
            disabled={plan.n_run === 0 || changes?.is_current === false}
            title={plan.n_run === 0 ? "Nothing would run" : changes?.is_current === false ? "The plan is out of date" : undefined}
            onClick={() => setApplying(true)}
          >
            Apply…
          </button>
        )}
      </PageHead>
      <div className="stats">
        <Stat n={plan.n_run} name="to run" />
        <Stat n={plan.n_skip} name="to skip" />
        <Stat n={plan.tasks.filter((one) => one.n_run > 0).length} name={`of ${count(plan.tasks.length, "task")} run somewhere`} />
        <div className="stat">
          <strong>{plan.estimate.n_known > 0 ? `≈ ${duration(plan.estimate.total_ms)}` : "–"}</strong>
          <span>{plan.estimate.n_known > 0 ? "by earlier runs" : "no earlier run to judge by"}</span>
        </div>
        <Notes plan={plan} />
      </div>
      {changes?.is_current === false && (
        <div className="problem warning" role="status">
          <strong>Out of date.</strong> Since it was made: {changes.changes.slice(0, 5).join("; ")}
          {changes.changes.length > 5 && ` and ${changes.changes.length - 5} more`}.{" "}
          <Link to={`/clusters/${plan.cluster}`}>Plan again</Link>
        </div>
      )}
      <div className="toolbar">
        <input type="search" aria-label="Search tasks" placeholder="Search tasks" value={search} onChange={(event) => setSearch(event.target.value)} />
        <select aria-label="Which instances" value={show} onChange={(event) => setShow(event.target.value)}>
          <option value="runs">What runs</option>
          <option value="all">Everything</option>
        </select>
        <span className="muted">Choose a square to see why.</span>
      </div>
      <div className={`withpanel${isOpen ? " open" : ""}`}>
        <Matrix
          label="What the plan does, tasks by nodes"
          queryKey={["plans", "one", plan.id, "matrix", search, show]}
          load={load}
          chosen={isOpen ? { task, node } : undefined}
          choose={choose}
          words={WORDS}
        />
        {isOpen && <InstancePanel planId={plan.id} clusterId={plan.cluster} graphType={plan.graph_type} task={task} node={node} close={() => choose({ task: "", node: "" })} />}
      </div>
      {isApplying && <Apply plan={plan} name={name} nNodes={nNodes} onClose={() => setApplying(false)} />}
    </div>
  );
}

function Stat({ n, name }: { n: number; name: string }) {
  return (
    <div className="stat">
      <strong>{n.toLocaleString("en-US")}</strong>
      <span>{name}</span>
    </div>
  );
}

/** As many as the request named; otherwise the matrix knows. */
function countNodes(plan: Schemas["PlanSummary"]): number | undefined {
  const asked = (plan.request as { nodes?: unknown }).nodes;
  return Array.isArray(asked) ? asked.length : undefined;
}

function Apply({ plan, name, nNodes, onClose }: { plan: Schemas["PlanSummary"]; name: string; nNodes?: number; onClose: () => void }) {
  const navigate = useNavigate();
  const [onFailure, setOnFailure] = useState("node_stops");
  const [atOnce, setAtOnce] = useState("");
  const [noop, setNoop] = useState(false);
  const apply = useMutation({
    mutationFn: () =>
      data(
        api.POST("/api/v1/plans/{id}/apply", {
          params: { path: { id: plan.id } },
          body: { on_failure: onFailure, noop_run: noop, ...(atOnce && { nodes_at_once: Number(atOnce) }) },
        }),
      ),
    onSuccess: (run) => navigate(`/runs/${run.id}`),
  });
  const where = nNodes === undefined ? "" : ` on ${count(nNodes, "node")}`;
  return (
    <Confirm
      title={`Run ${count(plan.n_run, "task instance")}${where} of ${name}?`}
      action={apply.isPending ? "Starting…" : noop ? "Run without changing anything" : "Apply"}
      isBusy={apply.isPending}
      error={apply.error ?? undefined}
      onConfirm={() => apply.mutate()}
      onClose={onClose}
    >
      <p>Exactly this plan is run. If what it was made from has changed, nothing is.</p>
      <div className="field">
        <label htmlFor="on-failure">When a task fails</label>
        <select id="on-failure" value={onFailure} onChange={(event) => setOnFailure(event.target.value)}>
          <option value="node_stops">its node stops, others go on</option>
          <option value="node_continues">its node goes on with what does not depend on it</option>
        </select>
      </div>
      <div className="field">
        <label htmlFor="at-once">Nodes at once</label>
        <input id="at-once" type="number" min={1} placeholder="as the server has it" value={atOnce} onChange={(event) => setAtOnce(event.target.value)} />
      </div>
      <label className="check">
        <input type="checkbox" checked={noop} onChange={(event) => setNoop(event.target.checked)} />
        <span>Only look: executors say what they would change</span>
      </label>
    </Confirm>
  );
}
