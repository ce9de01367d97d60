import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { Link, useParams } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { useMay } from "../../app/identity";
import { Loading } from "../../components/Loading";
import { Matrix, type Chosen, type Window } from "../../components/Matrix";
import { Empty, PageHead, type Crumb } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { Time, Took } from "../../components/Time";
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
    queryKey: ["runs", "one", id],
    queryFn: () => data(api.GET("/api/v1/runs/{id}", { params: { path: { id } } })),
    // Between the parts of a run there is nothing to follow.
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
  return <Shown details={run.data} />;
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

function Shown({ details }: { details: Schemas["Run"] }) {
  const { run, parts } = details;
  const [chosenPart, setPart] = useParam("part", "");
  const [view, setView] = useParam("view", "matrix");
  const [search, setSearch] = useParam("q", "");
  const [show, setShow] = useParam("show", "runs");
  const [task] = useParam("task", "");
  const [node] = useParam("node", "");
  const setParams = useSetParams();
  const mayOperate = useMay("operate");
  const clusterName = useClusterName(run.cluster);
  const part = parts.find((one) => String(one.run.id) === chosenPart) ?? parts.findLast((one) => one.run.time_start) ?? parts[0];
  const live = useLive(part && { id: part.run.id, lastEvent: part.last_event }, isActive(run), [
    ["runs", "one", run.id],
    ["runs", "one", part?.run.id],
  ]);
  const isPaused = parts.some((one) => one.is_paused && isActive(one.run));
  const partId = part?.run.id;
  const load = useCallback(
    (window: Window) =>
      data(
        api.GET("/api/v1/runs/{id}/matrix", {
          params: { path: { id: partId ?? 0 }, query: { ...window, ...(search && { search }), ...(show === "runs" && { runs_only: "1" }) } },
        }),
      ),
    [partId, search, show],
  );
  const choose = useCallback((cell: Chosen) => setParams({ task: cell.task, node: cell.node }), [setParams]);
  const status = statusOfRun(run.status, run.message);
  const isOpen = task !== "" && node !== "" && part !== undefined;
  return (
    <div className="page full">
      <PageHead
        title={`Run #${run.id}`}
        crumbs={crumbsOf(run, clusterName)}
        aside={
          <>
            <Status status={status} />
            {isPaused && isActive(run) && <Status status="stopped" word="paused" />}
            {run.dry_run && <span className="chip">dry run</span>}
            <span className="muted">
              {parts.length > 1 ? "graphs" : "graph"} {parts.map((one) => one.run.graph_type ?? one.run.name).join(", ")}
            </span>
          </>
        }
      >
        {mayOperate && <Controls run={run} isPaused={isPaused} />}
      </PageHead>
      {!live.isLive && (
        <div className="problem warning" role="status">
          The live view was interrupted; what you see may be old. Connecting again…
        </div>
      )}
      <div className="row">
        <div className={`progress status-${status} grow`} role="progressbar" aria-label="Progress" aria-valuenow={run.progress} aria-valuemin={0} aria-valuemax={100}>
          <span style={{ width: `${run.progress}%` }} />
        </div>
        <strong>{run.progress} %</strong>
        <span className="muted">
          started <Time at={run.time_start} />, <Took from={run.time_start} to={run.time_end} />
        </span>
        {part?.plan_id != null && <Link to={`/plans/${part.plan_id}`}>Plan #{part.plan_id}</Link>}
      </div>
      {run.message && run.status === "error" && <div className="problem">{run.message}</div>}
      {run.message && run.status === "ready" && (
        <div className="problem warning" role="status">
          {run.message}
        </div>
      )}
      {parts.length > 1 && (
        <div className="tabs" role="tablist" aria-label="Graphs of this run">
          {parts.map((one) => (
            <button key={one.run.id} type="button" role="tab" aria-selected={one === part} onClick={() => setPart(String(one.run.id))}>
              {one.run.graph_type ?? one.run.name} <Status status={statusOfRun(one.run.status, one.run.message)} />
            </button>
          ))}
        </div>
      )}
      {part && <Failures partId={part.run.id} isActive={isActive(run)} choose={choose} />}
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
            <select aria-label="Which instances" value={show} onChange={(event) => setShow(event.target.value)}>
              <option value="runs">What runs</option>
              <option value="all">Everything</option>
            </select>
            <span className="legend" aria-label="Legend">
              {STATUSES.filter((word) => word !== "ready").map((word) => (
                <Status key={word} status={word} />
              ))}
            </span>
          </>
        )}
      </div>
      {part?.plan_id == null ? (
        <Empty title={part ? "It is being planned" : "This run has no graphs"} />
      ) : (
        <div className={`withpanel${isOpen ? " open" : ""}`}>
          {view === "matrix" && (
            <Matrix
              label="What became of each task, tasks by nodes"
              queryKey={["runs", "one", part.run.id, "matrix", search, show]}
              load={load}
              chosen={isOpen ? { task, node } : undefined}
              choose={choose}
             
            />
          )}
          {view === "timeline" && <Timeline partId={part.run.id} isActive={isActive(run)} chosen={isOpen ? { task, node } : undefined} choose={choose} />}
          {view === "graph" && <RunGraph partId={part.run.id} clusterId={run.cluster ?? 0} graphType={part.run.graph_type ?? "default"} />}
          {isOpen && <RunPanel partId={part.run.id} runId={run.id} clusterId={run.cluster} planId={part.plan_id} task={task} node={node} isActive={isActive(run)} mayOperate={mayOperate} close={() => choose({ task: "", node: "" })} />}
        </div>
      )}
    </div>
  );
}
