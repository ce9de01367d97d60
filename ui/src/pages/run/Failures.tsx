import { useQuery } from "@tanstack/react-query";
import type { Chosen } from "../../components/Matrix";
import { Status } from "../../components/Status";
import { statusOfRecord } from "../../lib/status";
import { useNodeNames } from "../../lib/nodeNames";
import { count } from "../../lib/format";
import { historyOf } from "./history";

const SHOWN = 5;

/** What failed, first: it is what somebody looks for. */
export function Failures({ partId, isActive, choose }: {
  partId: number;
  isActive: boolean;
  choose: (cell: Chosen) => void;
}) {
  const failed = useQuery({ ...historyOf(partId, { statuses: "error" }), refetchInterval: isActive ? 5000 : false });
  const rows = failed.data ?? [];
  const nameOf = useNodeNames(rows.slice(0, SHOWN).map((row) => row.node_id));
  if (rows.length === 0) return null;
  return (
    <section className="problem" aria-label="Failures">
      <strong>{count(rows.length, "task instance")} did not succeed</strong>
      <ul>
        {rows.slice(0, SHOWN).map((row) => (
          <li key={`${row.task_name} ${row.node_id}`} className="row" style={{ flexWrap: "nowrap" }}>
            <Status status={statusOfRecord(row.status, row.outcome)} />
            <button type="button" className="button small" onClick={() => choose({ task: row.task_name, node: row.node_id })}>
              {row.task_name} on {nameOf(row.node_id)}
            </button>
            <span className="ellipsis" title={row.reason}>
              {row.reason}
            </span>
          </li>
        ))}
        {rows.length > SHOWN && <li className="muted">and {rows.length - SHOWN} more in the matrix</li>}
      </ul>
    </section>
  );
}
