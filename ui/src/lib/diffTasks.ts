// Compares two lists of tasks attribute by attribute.

export interface TaskChange {
  id: string;
  kind: "added" | "removed" | "changed";
  /** Attributes with their values before and after. */
  fields: { name: string; before?: unknown; after?: unknown }[];
}

const IGNORED = new Set(["provenance", "task_name", "role", "cross-depends", "cross-depended-by"]);

export function diffTasks(before: Record<string, unknown>[], after: Record<string, unknown>[]): TaskChange[] {
  const old = new Map(before.map((task) => [String(task.id), task]));
  const changes: TaskChange[] = [];
  for (const task of after) {
    const id = String(task.id);
    const previous = old.get(id);
    old.delete(id);
    const fields = fieldsOf(previous ?? {}, task);
    if (!previous) changes.push({ id, kind: "added", fields });
    else if (fields.length > 0) changes.push({ id, kind: "changed", fields });
  }
  for (const [id, task] of old) changes.push({ id, kind: "removed", fields: fieldsOf(task, {}) });
  return changes.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

function fieldsOf(before: Record<string, unknown>, after: Record<string, unknown>): TaskChange["fields"] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)].filter((name) => name !== "id" && !IGNORED.has(name)));
  return [...names]
    .filter((name) => !isSame(before[name], after[name]))
    .map((name) => ({ name, before: before[name], after: after[name] }));
}

/** Deep equality. The order of keys is ignored. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [x, y] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = Object.keys(x);
  return keys.length === Object.keys(y).length && keys.every((key) => key in y && isSame(x[key], y[key]));
}
