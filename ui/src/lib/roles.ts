import type { Schemas } from "../api/client";

/**
 * Returns why a role conflicts with the selected ones, or undefined if it does not. Conflicts are symmetric.
 */
export function conflictReason(role: Schemas["Role"], all: Schemas["Role"][], selected: string[]): string | undefined {
  const conflictsOf = (subject: Schemas["Role"]) => (Array.isArray(subject.meta.conflicts) ? (subject.meta.conflicts as string[]) : []);
  const others = selected.filter((name) => name !== role.name);
  const own = conflictsOf(role);
  for (const name of others) {
    const other = all.find((candidate) => candidate.name === name);
    const isConflict = own.includes(name) || own.includes("*") || (other && (conflictsOf(other).includes(role.name) || conflictsOf(other).includes("*")));
    if (isConflict) return `conflicts with ${String(other?.meta.name ?? name)}`;
  }
  return undefined;
}
