import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { Link, useParams } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { usePermission } from "../../app/identity";
import { Loading } from "../../components/Loading";
import { Matrix, type Cell, type Window } from "../../components/Matrix";
import { EmptyState, PageHead, type Crumb } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { RunStatus } from "../../components/RunStatus";
import { Status } from "../../components/Status";
import { Time, Duration } from "../../components/Time";
import { useClusterName } from "../../lib/clusterNames";
import { useParam, useSetParams } from "../../lib/params";
import { statusOfRun, STATUSES } from "../../lib/status";
import { Controls } from "./Controls";
import { Failures } from "./Failures";
import { RunGraph } from "./RunGraph";
import { RunPanel } from "./RunPanel";
import { Timeline } from "./Timeline";
import { useLive } from "./useLive";

const VIEWS: [string, string][] = [
  ["matrix", "Matrix"],
  ["timeline", "Timeline"],
  ["graph", "Graph"],
];

export default function Run() {
  const id = Number(useParams().id);
  const run = useQuery({
    queryKey: ["runs", "by-id", id],
    queryFn: () => data(api.GET("/api/v1/runs/{id}", { params: { path: { id } } })),
    // Polled in addition to events: between two child runs there is no event stream.
    refetchInterval: (query) => (query.state.data && isActive(query.state.data.run) ? 4000 : false),
  });
  if (run.isPending) return <Loading />;
  if (run.isError) {
    return (
      <div className="page">
        <Problem error={run.error} retry={() => void run.refetch()} />
      </div>
    );
  }
  return <RunView details={run.data} />;
}

function isActive(run: Schemas["Transaction"]): boolean {
  return run.status === "running" || run.status === "pending";
}

function crumbsOf(run: Schemas["Transaction"], clusterName: string): Crumb[] {
  if (run.cluster == null) return [["Runs", "/runs"]];
  return [
    ["Clusters", "/clusters"],
    [clusterName, `/clusters/${run.cluster}`],
    ["Runs", `/clusters/${run.cluster}/runs`],
  ];
}

function RunView({ details }: { details: Schemas["Run"] }) {
  const { run, parts: childRuns } = details;
  const [selectedChildRun, setChildRun] = useParam("part", "");
  const [view, setView] = useParam("view", "matrix");
  const [search, setSearch] = useParam("q", "");
  const [show, setShow] = useParam("show", "runs");
  const [task] = useParam("task", "");
  const [node] = useParam("node", "");
  const setParams = useSetParams();
  const canOperate = usePermission("operate");
  const clusterName = useClusterName(run.cluster);
  const childRun =
    childRuns.find((child) => String(child.run.id) === selectedChildRun) ?? childRuns.findLast((child) => child.run.time_start) ?? childRuns[0];
  const live = useLive(childRun && { id: childRun.run.id, lastEvent: childRun.last_event }, isActive(run), [
    ["runs", "by-id", run.id],
    ["runs", "by-id", childRun?.run.id],
  ]);
  const isPaused = childRuns.some((child) => child.is_paused && isActive(child.run));
  const childRunId = childRun?.run.id;
  const load = useCallback(
    (window: Window) =>
      data(
        api.GET("/api/v1/runs/{id}/matrix", {
          params: { path: { id: childRunId ?? 0 }, query: { ...window, ...(search && { search }), ...(show === "runs" && { runs_only: "1" }) } },
        }),
      ),
    [childRunId, search, show],
  );
  const select = useCallback((cell: Cell) => setParams({ task: cell.task, node: cell.node }), [setParams]);
  const status = statusOfRun(run);
  const isOpen = task !== "" && node !== "" && childRun !== undefined;
  return (
    <div className="page full">
      <PageHead
        title={`Run #${run.id}`}
        crumbs={crumbsOf(run, clusterName)}
        aside={
          <>
            <RunStatus run={run} />
            {isPaused && isActive(run) && <Status status="stopped" label="paused" />}
            {run.dry_run && <span className="chip">dry run</span>}
            <span className="muted">
              {childRuns.length > 1 ? "graphs" : "graph"} {childRuns.map((child) => child.run.graph_type ?? child.run.name).join(", ")}
            </span>
          </>
        }
      >
        {canOperate && <Controls run={run} isPaused={isPaused} />}
      </PageHead>
      {!live.isLive && (
        <div className="problem warning" role="status">
          Live updates are interrupted. This page may be outdated. Reconnecting…
        </div>
      )}
      <div className="row">
        <div className={`progress status-${status} grow`} role="progressbar" aria-label="Progress" aria-valuenow={run.progress} aria-valuemin={0} aria-valuemax={100}>
          <span style={{ width: `${run.progress}%` }} />
        </div>
        <strong>{run.progress} %</strong>
        <span className="muted">
          started <Time at={run.time_start} />, duration <Duration from={run.time_start} to={run.time_end} />
        </span>
        {childRun?.plan_id != null && <Link to={`/plans/${childRun.plan_id}`}>Plan #{childRun.plan_id}</Link>}
      </div>
      {run.message && run.status === "error" && run.outcome !== "partial" && <div className="problem">{run.message}</div>}
      {run.message && (run.status === "ready" || run.outcome === "partial") && (
        <div className="problem warning" role="status">
          {run.message}
        </div>
      )}
      {childRuns.length > 1 && (
        <div className="tabs" role="tablist" aria-label="Child runs">
          {childRuns.map((child) => (
            <button key={child.run.id} type="button" role="tab" aria-selected={child === childRun} onClick={() => setChildRun(String(child.run.id))}>
              {child.run.graph_type ?? child.run.name} <RunStatus run={child.run} />
            </button>
          ))}
        </div>
      )}
      {childRun && <Failures childRunId={childRun.run.id} isActive={isActive(run)} select={select} />}
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
              {STATUSES.filter((name) => name !== "ready").map((name) => (
                <Status key={name} status={name} />
              ))}
            </span>
          </>
        )}
      </div>
      {childRun?.plan_id == null ? (
        <EmptyState title={childRun ? "Planning in progress" : "No graphs in this run"}>{childRun && "Task instances appear here when the plan is ready."}</EmptyState>
      ) : (
        <div className={`withpanel${isOpen ? " open" : ""}`}>
          {view === "matrix" && (
            <Matrix
              label="Status of each task on each node"
              queryKey={["runs", "by-id", childRun.run.id, "matrix", search, show]}
              load={load}
              selected={isOpen ? { task, node } : undefined}
              select={select}
            />
          )}
          {view === "timeline" && <Timeline childRunId={childRun.run.id} isActive={isActive(run)} selected={isOpen ? { task, node } : undefined} select={select} />}
          {view === "graph" && <RunGraph childRunId={childRun.run.id} clusterId={run.cluster ?? 0} graphType={childRun.run.graph_type ?? "default"} />}
          {isOpen && <RunPanel childRunId={childRun.run.id} runId={run.id} clusterId={run.cluster} planId={childRun.plan_id} task={task} node={node} isActive={isActive(run)} canOperate={canOperate} close={() => select({ task: "", node: "" })} />}
        </div>
      )}
    </div>
  );
}
