import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import { api, data } from "../../api/client";
import { GraphView } from "../../components/GraphView";
import { LoadingRows } from "../../components/Loading";
import { Problem } from "../../components/Problem";
import { worstOf } from "../../lib/worst";
import { useParam } from "../../lib/params";
import { fold, groupsOf, taskGraphOf } from "../../lib/taskGraph";
import { mergedTasks } from "../graph/queries";

const UNFOLDED_MAX = 60;

/** The graph, coloured by what became of its tasks so far on all nodes. */
export function RunGraph({ partId, clusterId, graphType }: { partId: number; clusterId: number; graphType: string }) {
  const tasks = useQuery({ ...mergedTasks(clusterId, graphType), staleTime: 60_000 });
  const matrix = useQuery({
    queryKey: ["runs", "one", partId, "matrix", "whole"],
    queryFn: () => data(api.GET("/api/v1/runs/{id}/matrix", { params: { path: { id: partId }, query: { task_limit: 2000, node_limit: 2000 } } })),
  });
  const [chosen, setChosen] = useParam("task", "");
  const graph = useMemo(() => taskGraphOf(tasks.data ?? []), [tasks.data]);
  const groups = useMemo(() => groupsOf(graph, "stage"), [graph]);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const isSmall = graph.tasks.length <= UNFOLDED_MAX;
  const drawn = useMemo(() => fold(graph, groups, (group) => !isSmall && !open.has(group)), [graph, groups, open, isSmall]);
  const rows = useMemo(() => new Map(matrix.data?.tasks.map((task, place) => [task, matrix.data.cells[place] ?? ""])), [matrix.data]);
  const classOf = useCallback(
    (members: number[]) => {
      const status = worstOf(members.map((at) => rows.get(graph.tasks[at]?.id ?? "") ?? "").join(""));
      return status ? `is-${status}` : "";
    },
    [rows, graph],
  );
  if (tasks.isError) return <Problem error={tasks.error} retry={() => void tasks.refetch()} />;
  if (matrix.isError) return <Problem error={matrix.error} retry={() => void matrix.refetch()} />;
  if (!tasks.data || !matrix.data) return <LoadingRows rows={8} />;
  const toggle = (group: string) =>
    setOpen((now) => {
      const next = new Set(now);
      if (!next.delete(group)) next.add(group);
      return next;
    });
  return <GraphView label="Graph of the run" graph={graph} drawn={drawn} chosen={chosen} choose={setChosen} toggle={toggle} search="" classOf={classOf} />;
}
