// Formats times, durations and counts.

/** Parses a time of the server: UTC, usually without a time zone suffix. */
export function parseTime(text: string | null | undefined): number | undefined {
  if (!text) return undefined;
  const time = Date.parse(/Z|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? undefined : time;
}

/** Formats as `1 h 2 m`, `1 m 23 s`, `4.2 s` or `120 ms`: at most two units. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  const units: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor((seconds % 86_400) / 3600), "h"],
    [Math.floor((seconds % 3600) / 60), "m"],
    [seconds % 60, "s"],
  ];
  const first = units.findIndex(([count]) => count > 0);
  return units
    .slice(first, first + 2)
    .filter(([count], index) => index === 0 || count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}

const UNITS = [
  [86_400 * 365, "y"],
  [86_400, "d"],
  [3600, "h"],
  [60, "m"],
] as const;

/** Relative time in one unit: past times are rounded down, future times to the nearest unit. */
export function ago(time: number, now: number): string {
  const seconds = Math.round((now - time) / 1000);
  if (Math.abs(seconds) < 5) return "just now";
  if (seconds > 0) {
    const [size, unit] = UNITS.find(([length]) => seconds >= length) ?? [1, "s"];
    return `${Math.floor(seconds / size)} ${unit} ago`;
  }
  const [size, unit] = UNITS.find(([length]) => -seconds >= length * 0.95) ?? [1, "s"];
  return `in ${Math.round(-seconds / size)} ${unit}`;
}

export function exact(time: number): string {
  return `${new Date(time).toISOString().replace("T", " ").slice(0, 19)} UTC`;
}

export function count(n: number, singular: string, plural = `${singular}s`): string {
  return `${n.toLocaleString("en-US")} ${n === 1 ? singular : plural}`;
}

/** Natural sort order: `node-9` comes before `node-10`. */
export function compareNatural(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true, sensitivity: "base" });
}
