import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../../api/client";
import { Gantt } from "../../components/Gantt";
import { LoadingRows } from "../../components/Loading";
import type { Cell } from "../../components/Matrix";
import { displayName } from "../../lib/nodeNames";
import { Problem } from "../../components/Problem";
import { historyOf } from "./history";

/** Nodes per page: the timeline renders all bars of a page. */
const NODES = 50;

/** Timeline of a child run, paginated by nodes. */
export function Timeline({ childRunId, isActive, selected, select }: {
  childRunId: number;
  isActive: boolean;
  selected?: Cell;
  select: (cell: Cell) => void;
}) {
  const [offset, setOffset] = useState(0);
  const matrix = useQuery({
    queryKey: ["runs", "by-id", childRunId, "lanes", offset],
    queryFn: () =>
      data(api.GET("/api/v1/runs/{id}/matrix", { params: { path: { id: childRunId }, query: { runs_only: "1", node_offset: offset, node_limit: NODES, task_limit: 1 } } })),
  });
  const nodes = matrix.data?.nodes.join(",") ?? "";
  const history = useQuery({
    ...historyOf(childRunId, { nodes, statuses: "running,ready,error" }),
    enabled: nodes !== "",
    refetchInterval: isActive ? 3000 : false,
  });
  if (matrix.isError) return <Problem error={matrix.error} retry={() => void matrix.refetch()} />;
  if (history.isError) return <Problem error={history.error} retry={() => void history.refetch()} />;
  if (!matrix.data || !history.data) return <LoadingRows rows={8} />;
  const { n_nodes: nNodes, nodes: lanes, names } = matrix.data;
  const nameOf = (uid: string) => displayName(uid, names[lanes.indexOf(uid)]);
  return (
    <div className="stack tight" style={{ minHeight: 0 }}>
      {nNodes > NODES && (
        <div className="toolbar">
          <span className="muted">
            Nodes {offset + 1} to {Math.min(nNodes, offset + NODES)} of {nNodes}
          </span>
          <button type="button" className="button small" disabled={offset === 0} onClick={() => setOffset(Math.max(0, offset - NODES))}>
            Previous
          </button>
          <button type="button" className="button small" disabled={offset + NODES >= nNodes} onClick={() => setOffset(offset + NODES)}>
            Next
          </button>
        </div>
      )}
      <Gantt rows={history.data} now={history.dataUpdatedAt} nameOf={nameOf} selected={selected} select={(bar) => select({ task: bar.task, node: bar.node })} />
    </div>
  );
}
