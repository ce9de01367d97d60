import { useQuery } from "@tanstack/react-query";
import type { Cell } from "../../components/Matrix";
import { Status } from "../../components/Status";
import { statusOfRecord } from "../../lib/status";
import { useNodeNames } from "../../lib/nodeNames";
import { count } from "../../lib/format";
import { historyOf } from "./history";

/** Maximum number of failures to list. */
const ROWS_MAX = 5;

/** Task instances of a child run that did not succeed, above the matrix. */
export function Failures({ childRunId, isActive, select }: {
  childRunId: number;
  isActive: boolean;
  select: (cell: Cell) => void;
}) {
  const failed = useQuery({ ...historyOf(childRunId, { statuses: "error" }), refetchInterval: isActive ? 5000 : false });
  const rows = failed.data ?? [];
  const nameOf = useNodeNames(rows.slice(0, ROWS_MAX).map((row) => row.node_id));
  if (rows.length === 0) return null;
  return (
    <section className="problem" aria-label="Failures">
      <strong>{count(rows.length, "task instance")} did not succeed</strong>
      <ul>
        {rows.slice(0, ROWS_MAX).map((row) => (
          <li key={`${row.task_name} ${row.node_id}`} className="row" style={{ flexWrap: "nowrap" }}>
            <Status status={statusOfRecord(row.status, row.outcome)} />
            <button type="button" className="button small" onClick={() => select({ task: row.task_name, node: row.node_id })}>
              {row.task_name} on {nameOf(row.node_id)}
            </button>
            <span className="ellipsis" title={row.reason}>
              {row.reason}
            </span>
          </li>
        ))}
        {rows.length > ROWS_MAX && <li className="muted">and {rows.length - ROWS_MAX} more in the matrix</li>}
      </ul>
    </section>
  );
}
