// Arranges the history of a run as bars on lanes.
import type { Schemas } from "../api/client";
import { compareNatural, parseTime } from "./format";
import { statusOfRecord, type Status } from "./status";

export interface HistoryRow {
  task_name: string;
  node_id: string;
  status: string;
  time_start?: string | null;
  time_end?: string | null;
  outcome?: string;
  reason?: string;
  attempts?: number;
  /** Whether the task changed its node; null if it cannot tell. */
  changed?: boolean | null;
  diff?: Schemas["HostDifference"][];
}

export interface Bar {
  task: string;
  node: string;
  status: Status;
  start: number;
  end: number;
  /** Line within the lane of its node. Bars that overlap in time are on different lines. */
  line: number;
}

export interface Lane {
  node: string;
  bars: Bar[];
  nLines: number;
}

export interface Chart {
  lanes: Lane[];
  start: number;
  end: number;
}

/** `now` is the end time of tasks that are still running. */
export function chartOf(rows: HistoryRow[], now: number): Chart {
  const byNode = new Map<string, Bar[]>();
  for (const row of rows) {
    const start = parseTime(row.time_start);
    if (start === undefined) continue;
    const end = Math.max(start, parseTime(row.time_end) ?? now);
    const bar = { task: row.task_name, node: row.node_id, status: statusOfRecord(row.status, row.outcome), start, end, line: 0 };
    const bars = byNode.get(row.node_id);
    if (bars) bars.push(bar);
    else byNode.set(row.node_id, [bar]);
  }
  const lanes = [...byNode]
    .toSorted(([a], [b]) => compareNatural(a, b))
    .map(([node, bars]) => ({ node, bars, nLines: assignLines(bars) }));
  const allBars = lanes.flatMap((lane) => lane.bars);
  const start = allBars.reduce((earliest, bar) => Math.min(earliest, bar.start), Number.POSITIVE_INFINITY);
  const end = allBars.reduce((latest, bar) => Math.max(latest, bar.end), Number.NEGATIVE_INFINITY);
  return allBars.length === 0 ? { lanes: [], start: now, end: now } : { lanes, start, end: Math.max(end, start + 1) };
}

/** Assigns each bar to the first line that is free when it starts. Returns the number of lines. */
function assignLines(bars: Bar[]): number {
  bars.sort((a, b) => a.start - b.start || a.end - b.end);
  const busyUntil: number[] = [];
  for (const bar of bars) {
    const line = busyUntil.findIndex((end) => end <= bar.start);
    bar.line = line < 0 ? busyUntil.length : line;
    busyUntil[bar.line] = bar.end;
  }
  return Math.max(1, busyUntil.length);
}

/** Axis ticks at round steps, with at most `maxSteps` steps. */
export function ticks(span: number, maxSteps: number): number[] {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000];
  const step = steps.find((size) => span / size <= maxSteps) ?? span;
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, index) => index * step);
}
