// One vocabulary of states for everything, each with a word, a sign and a colour.
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

/** Signs differ in shape, not only in colour. */
export const SIGNS: Record<Status, string> = {
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
  r: "running",
  s: "success",
  k: "skipped",
  f: "failed",
  b: "blocked",
  t: "stopped",
  i: "interrupted",
};

/** The state that a letter of a matrix stands for; none where there is no instance. */
export function statusOfLetter(letter: string | undefined): Status | undefined {
  return letter === undefined ? undefined : LETTERS[letter];
}

/** The state of a run as the server names it. */
export function statusOfRun(status: string, message?: string | null): Status {
  if (status === "ready") return "success";
  if (status === "running") return "running";
  if (status === "error") return /stopped/i.test(message ?? "") ? "stopped" : "failed";
  return "pending";
}

/** The state of a row of history. */
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
