import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { api, data } from "../../api/client";
import { GraphView } from "../../components/GraphView";
import { LoadingRows } from "../../components/Loading";
import { Problem } from "../../components/Problem";
import { worstStatus } from "../../lib/worst";
import { useParam } from "../../lib/params";
import { fold, groupsOf, taskGraphOf } from "../../lib/taskGraph";
import { mergedTasks } from "../graph/queries";

/** Maximum number of tasks of a graph whose groups are expanded initially. */
const EXPANDED_MAX = 60;

/** Graph whose tasks have the colour of their most severe status on any node. */
export function RunGraph({ childRunId, clusterId, graphType }: { childRunId: number; clusterId: number; graphType: string }) {
  const tasks = useQuery({ ...mergedTasks(clusterId, graphType), staleTime: 60_000 });
  const matrix = useQuery({
    queryKey: ["runs", "by-id", childRunId, "matrix", "whole"],
    queryFn: () => data(api.GET("/api/v1/runs/{id}/matrix", { params: { path: { id: childRunId }, query: { task_limit: 2000, node_limit: 2000 } } })),
  });
  const [selected, setSelected] = useParam("task", "");
  const graph = useMemo(() => taskGraphOf(tasks.data ?? []), [tasks.data]);
  const groups = useMemo(() => groupsOf(graph, "stage"), [graph]);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const isSmall = graph.tasks.length <= EXPANDED_MAX;
  const drawing = useMemo(() => fold(graph, groups, (group) => !isSmall && !open.has(group)), [graph, groups, open, isSmall]);
  const rows = useMemo(() => new Map(matrix.data?.tasks.map((task, index) => [task, matrix.data.cells[index] ?? ""])), [matrix.data]);
  const classOf = useCallback(
    (members: number[]) => {
      const status = worstStatus(members.map((at) => rows.get(graph.tasks[at]?.id ?? "") ?? "").join(""));
      return status ? `is-${status}` : "";
    },
    [rows, graph],
  );
  if (tasks.isError) return <Problem error={tasks.error} retry={() => void tasks.refetch()} />;
  if (matrix.isError) return <Problem error={matrix.error} retry={() => void matrix.refetch()} />;
  if (!tasks.data || !matrix.data) return <LoadingRows rows={8} />;
  const toggle = (group: string) =>
    setOpen((previous) => {
      const next = new Set(previous);
      if (!next.delete(group)) next.add(group);
      return next;
    });
  return <GraphView label="Graph of the run" graph={graph} drawing={drawing} selected={selected} select={setSelected} toggle={toggle} search="" classOf={classOf} />;
}
