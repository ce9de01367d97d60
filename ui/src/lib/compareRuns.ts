import { parseTime } from "./format";
import type { HistoryRow } from "./gantt";
import { statusOfRecord, type Status } from "./status";

export interface Difference {
  task: string;
  node: string;
  a?: Status;
  b?: Status;
  /** Duration in run `b` minus duration in run `a`; set if the difference is significant. */
  longerMs?: number;
}

/** A duration difference is significant from one second and a fifth of the first duration; less is noise. */
const MS_MIN = 1000;
const SHARE_MIN = 0.2;

export function compareRuns(a: HistoryRow[], b: HistoryRow[]): Difference[] {
  const key = (row: HistoryRow) => `${row.task_name}\n${row.node_id}`;
  const left = new Map(a.map((row) => [key(row), row]));
  const right = new Map(b.map((row) => [key(row), row]));
  const keys = new Set([...left.keys(), ...right.keys()]);
  return [...keys]
    .flatMap((name): Difference[] => {
      const [x, y] = [left.get(name), right.get(name)];
      const row = (x ?? y) as HistoryRow;
      const difference = { task: row.task_name, node: row.node_id, a: x && statusOf(x), b: y && statusOf(y) };
      const longerMs = durationOf(y) - durationOf(x);
      const isSignificant = Math.abs(longerMs) >= MS_MIN && Math.abs(longerMs) >= durationOf(x) * SHARE_MIN;
      if (isSignificant) return [{ ...difference, longerMs }];
      return difference.a === difference.b ? [] : [difference];
    })
    .toSorted((x, y) => Number(x.a === x.b) - Number(y.a === y.b) || Math.abs(y.longerMs ?? 0) - Math.abs(x.longerMs ?? 0));
}

function statusOf(row: HistoryRow): Status {
  return statusOfRecord(row.status, row.outcome);
}

function durationOf(row: HistoryRow | undefined): number {
  const [start, end] = [parseTime(row?.time_start), parseTime(row?.time_end)];
  return start === undefined || end === undefined ? Number.NaN : end - start;
}
