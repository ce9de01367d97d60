import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, data } from "../../api/client";
import { Status } from "../../components/Status";
import { Time, Duration } from "../../components/Time";
import type { HistoryRow } from "../../lib/gantt";
import { statusOfRecord } from "../../lib/status";

/** Maximum number of earlier runs to list. */
const RUNS_MAX = 6;

/** Results of a task on a node in earlier runs. */
export function EarlierResults({ clusterId, runId, task, node }: { clusterId: number; runId: number; task: string; node: string }) {
  const earlier = useQuery({
    queryKey: ["runs", "earlier", clusterId, runId, task, node],
    queryFn: () => fetchEarlier(clusterId, runId, task, node),
    staleTime: 60_000,
  });
  if (!earlier.data || earlier.data.length === 0) return null;
  return (
    <section className="stack tight" aria-label="Earlier runs on this node">
      <h3>Earlier runs on this node</h3>
      <ul className="stack tight">
        {earlier.data.map(({ run, record }) => (
          <li key={run} className="row">
            <Link to={`/runs/${run}?task=${encodeURIComponent(task)}&node=${encodeURIComponent(node)}`}>#{run}</Link>
            <Status status={statusOfRecord(record.status, record.outcome)} />
            <Duration from={record.time_start} to={record.time_end} />
            <Time at={record.time_start} />
          </li>
        ))}
      </ul>
    </section>
  );
}

async function fetchEarlier(clusterId: number, runId: number, task: string, node: string): Promise<{ run: number; record: HistoryRow }[]> {
  const runs = await data(
    api.GET("/api/v1/transactions", {
      params: { query: { cluster_id: String(clusterId), transaction_types: "deploy", order_by: "-id", limit: RUNS_MAX * 2 } },
    }),
  );
  const earlierRuns = runs.filter((run) => run.id < runId && !run.dry_run).slice(0, RUNS_MAX);
  const results = await Promise.all(
    earlierRuns.map(async (run) => {
      const query = { nodes: node, tasks_names: task, statuses: "ready,error" };
      const records = await data(api.GET("/api/v1/transactions/{id}/deployment_history", { params: { path: { id: run.id }, query } }));
      return (records as unknown as HistoryRow[]).map((record) => ({ run: run.id, record }));
    }),
  );
  return results.flat();
}
