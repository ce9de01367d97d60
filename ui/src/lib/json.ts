export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** A map where there is one, an empty one otherwise. */
export function asMap(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What is known of something as `name: value, …`, cut where it gets long; anything but a map as it is. */
export function facts(value: unknown, max = 120): string {
  const entries = Object.entries(asMap(value)).filter(([, item]) => item !== null);
  if (entries.length === 0) return typeof value === "object" ? "" : brief(value, max);
  return brief(entries.map(([name, item]) => `${name.replace(/^n_/, "").replaceAll("_", " ")}: ${brief(item)}`).join(", "), max);
}

/** A value in one line, cut where it gets long. */
export function brief(value: unknown, max = 120): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > max ? `${text.slice(0, max - 1)}…` : text;
}
