// Words for planned actions. A plan shows instances that run as pending, and handlers that run only if triggered as ready.
import type { Schemas } from "../api/client";

export const PLANNED_STATUSES = ["pending", "ready", "skipped"] as const;
export const PLANNED_LABELS = { pending: "runs", ready: "only if triggered", skipped: "skipped" };

export function plannedStatus({ action, verdict }: Pick<Schemas["PlannedInstance"], "action" | "verdict">): (typeof PLANNED_STATUSES)[number] {
  if (action !== "run") return "skipped";
  return verdict === "if_triggered" ? "ready" : "pending";
}

/** How many of the instances to run are handlers that may turn out not to be triggered; empty if none. */
export function onlyTriggered({ verdicts }: Pick<Schemas["PlanSummary"], "verdicts">): string {
  const nHandlers = Number(verdicts.if_triggered ?? 0);
  return nHandlers === 0 ? "" : ` (${nHandlers.toLocaleString("en-US")} of them only if triggered)`;
}
