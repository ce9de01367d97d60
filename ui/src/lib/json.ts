export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Returns `value` if it is a map, and an empty map otherwise. */
export function asMap(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Summarizes a map as `name: value, …`, truncated to `max` characters. Other values are truncated only. */
export function summarize(value: unknown, max = 120): string {
  const entries = Object.entries(asMap(value)).filter(([, item]) => item !== null);
  if (entries.length === 0) return typeof value === "object" ? "" : truncate(value, max);
  return truncate(entries.map(([name, item]) => `${name.replace(/^n_/, "").replaceAll("_", " ")}: ${truncate(item)}`).join(", "), max);
}

/** Formats a value as one line of at most `max` characters. */
export function truncate(value: unknown, max = 120): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
