import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useParams } from "react-router";
import { api, data } from "../../api/client";
import { useMay } from "../../app/identity";
import { GraphView } from "../../components/GraphView";
import { Loading } from "../../components/Loading";
import { Empty, PageHead } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { count } from "../../lib/format";
import { useParam, useSetParams } from "../../lib/params";
import { fold, groupsOf, taskGraphOf, type GroupBy } from "../../lib/taskGraph";
import { Diff } from "./Diff";
import { Findings } from "./Findings";
import { mergedTasks } from "./queries";
import { TaskPanel } from "./TaskPanel";
import { TaskTable } from "./TaskTable";

/** More tasks than this are shown folded first. */
const UNFOLDED_MAX = 60;

export default function Graph() {
  const { id: idText, type = "default" } = useParams();
  const id = Number(idText);
  const cluster = useQuery({ queryKey: ["clusters", id], queryFn: () => data(api.GET("/api/v1/clusters/{id}", { params: { path: { id } } })) });
  const tasks = useQuery(mergedTasks(id, type));
  const mayOperate = useMay("operate");
  const [view, setView] = useParam("view", "graph");
  const [search, setSearch] = useParam("q", "");
  const [chosen, setChosen] = useParam("task", "");
  const [by] = useParam("by", "stage");
  const setParams = useSetParams();
  const [open, setOpen] = useParam("open", "");
  const graph = useMemo(() => taskGraphOf(tasks.data ?? []), [tasks.data]);
  const groups = useMemo(() => groupsOf(graph, by as GroupBy), [graph, by]);
  const names = [...new Set(groups.filter(Boolean))];
  const isSmall = graph.tasks.length <= UNFOLDED_MAX;
  const unfolded = new Set(open === "all" ? names : open === "" ? (isSmall ? names : []) : open.split("|"));
  const openKey = [...unfolded].join("|");
  const drawn = useMemo(() => {
    const shown = new Set(openKey.split("|"));
    const groupOfChosen = groups[graph.tasks.findIndex((task) => task.id === chosen)];
    return fold(graph, groups, (group) => !shown.has(group) && group !== groupOfChosen);
  }, [graph, groups, openKey, chosen]);
  if (tasks.isPending) return <Loading />;
  const toggle = (group: string) => {
    const next = new Set(unfolded);
    if (!next.delete(group)) next.add(group);
    setOpen([...next].join("|") || "none");
  };
  const task = graph.tasks.find((one) => one.id === chosen);
  return (
    <div className="page full">
      <PageHead
        title={`Graph ${type}`}
        crumbs={[
          ["Clusters", "/clusters"],
          [cluster.data?.name ?? `cluster ${id}`, `/clusters/${id}`],
          ["Graphs", `/clusters/${id}/graphs`],
        ]}
        aside={<span className="muted">{count(graph.tasks.length, "task")}, merged of all layers</span>}
      >
        {mayOperate && (
          <Link className="button" to="edit" relative="path">
            Edit own layer
          </Link>
        )}
      </PageHead>
      {tasks.isError && <Problem error={tasks.error} retry={() => void tasks.refetch()} />}
      <Findings clusterId={id} graphType={type} choose={setChosen} />
      <div className="toolbar">
        <div className="tabs" role="tablist" aria-label="View">
          {[
            ["graph", "Graph"],
            ["table", "Table"],
            ["diff", "Layers compared"],
          ].map(([name = "", title]) => (
            <button key={name} type="button" role="tab" aria-selected={view === name} onClick={() => setView(name)}>
              {title}
            </button>
          ))}
        </div>
        {view !== "diff" && <input type="search" aria-label="Search tasks" placeholder="Search tasks" value={search} onChange={(event) => setSearch(event.target.value)} />}
        {view === "graph" && (
          <>
            <label htmlFor="group-by">Fold by</label>
            <select
              id="group-by"
              value={by}
              onChange={(event) => setParams({ by: event.target.value, open: "" })}
            >
              <option value="stage">stage</option>
              <option value="role">role</option>
              <option value="layer">layer</option>
              <option value="none">nothing</option>
            </select>
            {by !== "none" && (
              <>
                <button type="button" className="button small" onClick={() => setOpen("all")}>
                  Unfold all
                </button>
                <button type="button" className="button small" onClick={() => setOpen("none")}>
                  Fold all
                </button>
              </>
            )}
            <span className="muted">
              set by <span className="layer-release">release</span>, <span className="layer-cluster">cluster</span>, <span className="layer-plugins">plugins</span>
            </span>
          </>
        )}
      </div>
      {tasks.isSuccess && graph.tasks.length === 0 ? (
        <Empty title={`No layer has tasks for ${type}`}>
          {mayOperate && (
            <Link to="edit" relative="path">
              Write the cluster's own
            </Link>
          )}
        </Empty>
      ) : (
        <div className={`withpanel${task ? " open" : ""}`}>
          {view === "graph" && <GraphView label={`Graph ${type}`} graph={graph} drawn={drawn} chosen={chosen} choose={setChosen} toggle={toggle} search={search} />}
          {view === "table" && <TaskTable graph={graph} search={search} chosen={chosen} choose={setChosen} />}
          {view === "diff" && <Diff clusterId={id} graphType={type} />}
          {task && <TaskPanel graph={graph} task={task} choose={setChosen} close={() => setChosen("")} />}
        </div>
      )}
    </div>
  );
}
