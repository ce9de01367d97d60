import { statusOfRun } from "../lib/status";
import { Status } from "./Status";

/** Status of a run. A run that left out offline nodes is partial, neither a success nor a failure. */
export function RunStatus({ run }: { run: { status: string; outcome?: string | null; message?: string | null } }) {
  return <Status status={statusOfRun(run)} label={run.outcome === "partial" ? "partial" : undefined} />;
}
