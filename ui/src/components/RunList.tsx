import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, page, type Schemas } from "../api/client";
import { count } from "../lib/format";
import { useParam } from "../lib/params";
import { statusOfRun } from "../lib/status";
import { useClusterNames } from "../lib/clusterNames";
import { LoadingRows } from "./Loading";
import { Empty } from "./PageHead";
import { Problem } from "./Problem";
import { Status } from "./Status";
import { Time, Took } from "./Time";

const PAGE = 50;
const STATES: [value: string, name: string][] = [
  ["", "In any state"],
  ["pending,running", "Under way"],
  ["ready", "Succeeded"],
  ["error", "Failed or stopped"],
];

/** Runs, newest first. Two of them can be ticked and compared. */
export function RunList({ clusterId, limit }: { clusterId?: number; limit?: number }) {
  const [offset, setOffset] = useParam("offset", "0");
  const [status, setStatus] = useParam("status", "");
  const nameOf = useClusterNames(clusterId === undefined);
  const [ticked, setTicked] = useState<number[]>([]);
  const size = limit ?? PAGE;
  const start = limit ? 0 : Number(offset);
  const statuses = limit ? "" : status;
  const runs = useQuery({
    queryKey: ["runs", clusterId ?? "all", size, start, statuses],
    queryFn: () =>
      page(
        api.GET("/api/v1/transactions", {
          params: {
            query: {
              ...(clusterId === undefined ? {} : { cluster_id: String(clusterId) }),
              ...(statuses && { statuses }),
              transaction_types: "deploy",
              limit: size,
              offset: start,
              order_by: "-id",
            },
          },
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: (query) => (query.state.data?.items.some(isActive) ? 3000 : 30_000),
  });
  if (runs.isPending) return <LoadingRows />;
  if (runs.isError) return <Problem error={runs.error} retry={() => void runs.refetch()} />;
  const { items, total } = runs.data;
  if (items.length === 0 && statuses === "") {
    return <Empty title="Nothing has run yet">Plan a cluster, look at the plan, and apply it.</Empty>;
  }
  const tick = (id: number) => setTicked((now) => (now.includes(id) ? now.filter((one) => one !== id) : [...now.slice(-1), id]));
  return (
    <div className="stack tight">
      {!limit && (
        <div className="toolbar">
          <Link
            className="button small"
            aria-disabled={ticked.length !== 2}
            title={ticked.length === 2 ? undefined : "Tick two runs to compare them"}
            to={ticked.length === 2 ? `/runs/compare?a=${Math.min(...ticked)}&b=${Math.max(...ticked)}` : "#"}
          >
            Compare
          </Link>
          <select aria-label="State" value={status} onChange={(event) => setStatus(event.target.value)}>
            {STATES.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
          <span className="muted grow">{count(total, "run")}</span>
          <button type="button" className="button small" disabled={start === 0} onClick={() => setOffset(String(Math.max(0, start - PAGE)))}>
            Newer
          </button>
          <button type="button" className="button small" disabled={start + PAGE >= total} onClick={() => setOffset(String(start + PAGE))}>
            Older
          </button>
        </div>
      )}
      {items.length === 0 && <Empty title="No run is in this state">Choose another one above.</Empty>}
      {items.length > 0 && (
        <div className="tablewrap">
          <table aria-label="Runs">
            <thead>
              <tr>
                {!limit && (
                  <th className="tick">
                    <span className="sr">To compare</span>
                  </th>
                )}
                <th>Run</th>
                <th>State</th>
                {clusterId === undefined && <th>Cluster</th>}
                <th className="num">Progress</th>
                <th>Started</th>
                <th>Took</th>
                <th>Message</th>
              </tr>
            </thead>
            <tbody>
              {items.map((run) => (
                <tr key={run.id}>
                  {!limit && (
                    <td className="tick">
                      <input
                        type="checkbox"
                        title="Tick two to compare them"
                        aria-label={`Tick run ${run.id}`}
                        checked={ticked.includes(run.id)}
                        onChange={() => tick(run.id)}
                      />
                    </td>
                  )}
                  <td>
                    <Link to={`/runs/${run.id}`}>#{run.id}</Link>
                    {run.dry_run && <span className="muted"> dry run</span>}
                  </td>
                  <td>
                    <Status status={statusOfRun(run.status, run.message)} />
                  </td>
                  {clusterId === undefined && (
                    <td>{run.cluster == null ? <span className="muted">gone</span> : <Link to={`/clusters/${run.cluster}`}>{nameOf(run.cluster)}</Link>}</td>
                  )}
                  <td className="num">{run.progress} %</td>
                  <td>
                    <Time at={run.time_start} />
                  </td>
                  <td>
                    <Took from={run.time_start} to={run.time_end} />
                  </td>
                  <td className="muted">{run.message}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  );
}

function isActive(run: Schemas["Transaction"]): boolean {
  return run.status === "running" || run.status === "pending";
}
