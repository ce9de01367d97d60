// Statuses of runs, task instances, clusters and nodes. Each has a name, a symbol and a colour.
export const STATUSES = [
  "pending",
  "ready",
  "running",
  "success",
  "skipped",
  "failed",
  "blocked",
  "stopped",
  "interrupted",
] as const;
export type Status = (typeof STATUSES)[number];

/** Symbols differ in shape, so that statuses can be told apart without colour. */
export const SYMBOLS: Record<Status, string> = {
  pending: "○",
  ready: "◎",
  running: "◐",
  success: "✓",
  skipped: "–",
  failed: "✕",
  blocked: "⊘",
  stopped: "■",
  interrupted: "!",
};

const LETTERS: Record<string, Status> = {
  p: "pending",
  h: "ready",
  r: "running",
  s: "success",
  k: "skipped",
  f: "failed",
  b: "blocked",
  t: "stopped",
  i: "interrupted",
};

/** Status of a matrix cell; undefined if the task has no instance on the node. */
export function statusOfLetter(letter: string | undefined): Status | undefined {
  return letter === undefined ? undefined : LETTERS[letter];
}

/** Status of a run of the REST API. The status of a partial run is `error`; only its outcome says that it succeeded. */
export function statusOfRun(run: { status: string; outcome?: string | null; message?: string | null }): Status {
  if (run.status === "ready") return "success";
  if (run.status === "running") return "running";
  if (run.status !== "error") return "pending";
  if (run.outcome === "partial") return "interrupted";
  return run.outcome === "stopped" || /stopped/i.test(run.message ?? "") ? "stopped" : "failed";
}

/** Status of a history record of the REST API. */
export function statusOfRecord(status: string, outcome?: string): Status {
  if (outcome === "stopped" || outcome === "interrupted" || outcome === "blocked") return outcome;
  if (status === "ready") return "success";
  if (status === "error") return "failed";
  if (status === "running") return "running";
  return status === "skipped" ? "skipped" : "pending";
}

const CLUSTER: Record<string, Status> = {
  new: "pending",
  deployment: "running",
  update: "running",
  remove: "running",
  stopped: "stopped",
  operational: "success",
  error: "failed",
  update_error: "failed",
  partially_deployed: "interrupted",
};

export function statusOfCluster(status: string): Status {
  return CLUSTER[status] ?? "pending";
}

const NODE: Record<string, Status> = {
  discover: "pending",
  provisioning: "running",
  provisioned: "ready",
  deploying: "running",
  deployed: "success",
  ready: "success",
  error: "failed",
  stopped: "stopped",
  removing: "running",
};

export function statusOfNode(status: string): Status {
  return NODE[status] ?? "pending";
}
