import { useEffect, useState } from "react";
import { ago, duration, exact, parseTime } from "../lib/format";

/** Relative time. The tooltip has the exact time. */
export function Time({ at }: { at: string | null | undefined }) {
  const now = useNow(15_000);
  const time = parseTime(at);
  if (time === undefined) return <span className="muted">–</span>;
  return (
    <time dateTime={new Date(time).toISOString()} title={exact(time)}>
      {ago(time, now)}
    </time>
  );
}

/** Duration from start to end, or to the current time without an end. */
export function Duration({ from, to }: { from: string | null | undefined; to: string | null | undefined }) {
  const start = parseTime(from);
  const end = parseTime(to);
  const now = useNow(end === undefined && start !== undefined ? 1000 : 3_600_000);
  if (start === undefined) return <span className="muted">–</span>;
  return <span>{duration(Math.max(0, (end ?? now) - start))}</span>;
}

function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
