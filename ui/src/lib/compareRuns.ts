import { parseTime } from "./format";
import type { HistoryRow } from "./gantt";
import { statusOfRecord, type Status } from "./status";

export interface Difference {
  task: string;
  node: string;
  a?: Status;
  b?: Status;
  longerMs?: number;
}

/** Differences of a second and a fifth are worth telling; smaller ones are noise. */
const MS_MIN = 1000;
const SHARE_MIN = 0.2;

export function compareRuns(a: HistoryRow[], b: HistoryRow[]): Difference[] {
  const key = (row: HistoryRow) => `${row.task_name}\n${row.node_id}`;
  const left = new Map(a.map((row) => [key(row), row]));
  const right = new Map(b.map((row) => [key(row), row]));
  const all = new Set([...left.keys(), ...right.keys()]);
  return [...all]
    .flatMap((name): Difference[] => {
      const [x, y] = [left.get(name), right.get(name)];
      const row = (x ?? y) as HistoryRow;
      const one = { task: row.task_name, node: row.node_id, a: x && stateOf(x), b: y && stateOf(y) };
      const longerMs = took(y) - took(x);
      const isSlower = Math.abs(longerMs) >= MS_MIN && Math.abs(longerMs) >= took(x) * SHARE_MIN;
      if (isSlower) return [{ ...one, longerMs }];
      return one.a === one.b ? [] : [one];
    })
    .toSorted((x, y) => Number(x.a === x.b) - Number(y.a === y.b) || Math.abs(y.longerMs ?? 0) - Math.abs(x.longerMs ?? 0));
}

function stateOf(row: HistoryRow): Status {
  return statusOfRecord(row.status, row.outcome);
}

function took(row: HistoryRow | undefined): number {
  const [start, end] = [parseTime(row?.time_start), parseTime(row?.time_end)];
  return start === undefined || end === undefined ? Number.NaN : end - start;
}
