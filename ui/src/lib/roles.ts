import type { Schemas } from "../api/client";

/** Why a role cannot be chosen beside those chosen already; undefined if it can. Conflicts hold both ways. */
export function conflictsOf(role: Schemas["Role"], all: Schemas["Role"][], chosen: string[]): string | undefined {
  const listed = (one: Schemas["Role"]) => (Array.isArray(one.meta.conflicts) ? (one.meta.conflicts as string[]) : []);
  const others = chosen.filter((name) => name !== role.name);
  const own = listed(role);
  for (const name of others) {
    const other = all.find((one) => one.name === name);
    const isOut = own.includes(name) || own.includes("*") || (other && (listed(other).includes(role.name) || listed(other).includes("*")));
    if (isOut) return `cannot be together with ${String(other?.meta.name ?? name)}`;
  }
  return undefined;
}
