// How times, durations and counts are said.

/** The server's times are UTC without a zone. */
export function parseTime(text: string | null | undefined): number | undefined {
  if (!text) return undefined;
  const time = Date.parse(/Z|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? undefined : time;
}

/** `1 h 2 m`, `1 m 23 s`, `4.2 s`, `120 ms`: two units at most. */
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
    .filter(([count], place) => place === 0 || count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}

const UNITS = [
  [86_400 * 365, "y"],
  [86_400, "d"],
  [3600, "h"],
  [60, "m"],
] as const;

/** How long ago, in one unit, as ages are told; how far ahead, to the nearest one, as waiting is. */
export function ago(time: number, now: number): string {
  const seconds = Math.round((now - time) / 1000);
  if (Math.abs(seconds) < 5) return "just now";
  if (seconds > 0) {
    const [size, unit] = UNITS.find(([one]) => seconds >= one) ?? [1, "s"];
    return `${Math.floor(seconds / size)} ${unit} ago`;
  }
  const [size, unit] = UNITS.find(([one]) => -seconds >= one * 0.95) ?? [1, "s"];
  return `in ${Math.round(-seconds / size)} ${unit}`;
}

export function exact(time: number): string {
  return `${new Date(time).toISOString().replace("T", " ").slice(0, 19)} UTC`;
}

export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en-US")} ${n === 1 ? one : many}`;
}

/** Numbers before texts, and texts with numbers as people sort them. */
export function compareNatural(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true, sensitivity: "base" });
}
