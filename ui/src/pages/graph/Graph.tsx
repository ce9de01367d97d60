import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { Link, useParams } from "react-router";
import { api, data } from "../../api/client";
import { usePermission } from "../../app/identity";
import { GraphView } from "../../components/GraphView";
import { Loading } from "../../components/Loading";
import { EmptyState, PageHead } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { count } from "../../lib/format";
import { useParam, useSetParams } from "../../lib/params";
import { fold, groupsOf, taskGraphOf, type GroupBy } from "../../lib/taskGraph";
import { Diff } from "./Diff";
import { Diagnostics } from "./Diagnostics";
import { mergedTasks } from "./queries";
import { TaskPanel } from "./TaskPanel";
import { TaskTable } from "./TaskTable";

/** Maximum number of tasks of a graph whose groups are expanded initially. */
const EXPANDED_MAX = 60;

export default function Graph() {
  const { id: idText, type = "default" } = useParams();
  const id = Number(idText);
  const cluster = useQuery({ queryKey: ["clusters", id], queryFn: () => data(api.GET("/api/v1/clusters/{id}", { params: { path: { id } } })) });
  const tasks = useQuery(mergedTasks(id, type));
  const canOperate = usePermission("operate");
  const [view, setView] = useParam("view", "graph");
  const [search, setSearch] = useParam("q", "");
  const [selected, setSelected] = useParam("task", "");
  const [by] = useParam("by", "stage");
  const setParams = useSetParams();
  const [open, setOpen] = useParam("open", "");
  const graph = useMemo(() => taskGraphOf(tasks.data ?? []), [tasks.data]);
  const groups = useMemo(() => groupsOf(graph, by as GroupBy), [graph, by]);
  const names = [...new Set(groups.filter(Boolean))];
  const isSmall = graph.tasks.length <= EXPANDED_MAX;
  const expanded = new Set(open === "all" ? names : open === "" ? (isSmall ? names : []) : open.split("|"));
  const openKey = [...expanded].join("|");
  const drawing = useMemo(() => {
    const openGroups = new Set(openKey.split("|"));
    const selectedGroup = groups[graph.tasks.findIndex((task) => task.id === selected)];
    return fold(graph, groups, (group) => !openGroups.has(group) && group !== selectedGroup);
  }, [graph, groups, openKey, selected]);
  if (tasks.isPending) return <Loading />;
  const toggle = (group: string) => {
    const next = new Set(expanded);
    if (!next.delete(group)) next.add(group);
    setOpen([...next].join("|") || "none");
  };
  const task = graph.tasks.find((candidate) => candidate.id === selected);
  return (
    <div className="page full">
      <PageHead
        title={`Graph ${type}`}
        crumbs={[
          ["Clusters", "/clusters"],
          [cluster.data?.name ?? `cluster ${id}`, `/clusters/${id}`],
          ["Graphs", `/clusters/${id}/graphs`],
        ]}
        aside={<span className="muted">{count(graph.tasks.length, "task")}, merged from all layers</span>}
      >
        {canOperate && (
          <Link className="button" to="edit" relative="path">
            Edit cluster layer
          </Link>
        )}
      </PageHead>
      {tasks.isError && <Problem error={tasks.error} retry={() => void tasks.refetch()} />}
      <Diagnostics clusterId={id} graphType={type} select={setSelected} />
      <div className="toolbar">
        <div className="tabs" role="tablist" aria-label="View">
          {[
            ["graph", "Graph"],
            ["table", "Table"],
            ["diff", "Layer comparison"],
          ].map(([name = "", title]) => (
            <button key={name} type="button" role="tab" aria-selected={view === name} onClick={() => setView(name)}>
              {title}
            </button>
          ))}
        </div>
        {view !== "diff" && <input type="search" aria-label="Search tasks" placeholder="Search tasks" value={search} onChange={(event) => setSearch(event.target.value)} />}
        {view === "graph" && (
          <>
            <label htmlFor="group-by">Group by</label>
            <select
              id="group-by"
              value={by}
              onChange={(event) => setParams({ by: event.target.value, open: "" })}
            >
              <option value="stage">stage</option>
              <option value="role">role</option>
              <option value="layer">layer</option>
              <option value="none">none</option>
            </select>
            {by !== "none" && (
              <>
                <button type="button" className="button small" onClick={() => setOpen("all")}>
                  Expand all
                </button>
                <button type="button" className="button small" onClick={() => setOpen("none")}>
                  Collapse all
                </button>
              </>
            )}
            <span className="muted">
              Set by <span className="layer-release">release</span>, <span className="layer-cluster">cluster</span>, <span className="layer-plugins">plugins</span>
            </span>
          </>
        )}
      </div>
      {tasks.isSuccess && graph.tasks.length === 0 ? (
        <EmptyState title={`No tasks in graph ${type}`}>
          {canOperate && (
            <Link to="edit" relative="path">
              Add tasks to the cluster layer
            </Link>
          )}
        </EmptyState>
      ) : (
        <div className={`withpanel${task ? " open" : ""}`}>
          {view === "graph" && <GraphView label={`Graph ${type}`} graph={graph} drawing={drawing} selected={selected} select={setSelected} toggle={toggle} search={search} />}
          {view === "table" && <TaskTable graph={graph} search={search} selected={selected} select={setSelected} />}
          {view === "diff" && <Diff clusterId={id} graphType={type} />}
          {task && <TaskPanel graph={graph} task={task} select={setSelected} close={() => setSelected("")} />}
        </div>
      )}
    </div>
  );
}
