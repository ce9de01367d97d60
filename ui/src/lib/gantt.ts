// From records of a run to bars on lanes.
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
}

export interface Bar {
  task: string;
  node: string;
  status: Status;
  start: number;
  end: number;
  /** Which of the lines of its node it is on: what runs at the same time is not on one line. */
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

/** `now` ends what is still running. */
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
    .map(([node, bars]) => ({ node, bars, nLines: layLines(bars) }));
  const all = lanes.flatMap((lane) => lane.bars);
  const start = all.reduce((least, bar) => Math.min(least, bar.start), Number.POSITIVE_INFINITY);
  const end = all.reduce((most, bar) => Math.max(most, bar.end), Number.NEGATIVE_INFINITY);
  return all.length === 0 ? { lanes: [], start: now, end: now } : { lanes, start, end: Math.max(end, start + 1) };
}

/** Each bar takes the first line that is free when it starts; returns how many lines there are. */
function layLines(bars: Bar[]): number {
  bars.sort((a, b) => a.start - b.start || a.end - b.end);
  const free: number[] = [];
  for (const bar of bars) {
    const line = free.findIndex((until) => until <= bar.start);
    bar.line = line < 0 ? free.length : line;
    free[bar.line] = bar.end;
  }
  return Math.max(1, free.length);
}

/** Round steps, at most `most` of them. */
export function ticks(span: number, most: number): number[] {
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000];
  const step = steps.find((size) => span / size <= most) ?? span;
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, place) => place * step);
}
