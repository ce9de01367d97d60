import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { api, page, type Schemas } from "../api/client";
import { count } from "../lib/format";
import { useParam } from "../lib/params";
import { useClusterNames } from "../lib/clusterNames";
import { LoadingRows } from "./Loading";
import { EmptyState } from "./PageHead";
import { Problem } from "./Problem";
import { RunStatus } from "./RunStatus";
import { Time, Duration } from "./Time";

const PAGE = 50;
const STATUS_FILTERS: [value: string, name: string][] = [
  ["", "Any status"],
  ["pending,running", "Active"],
  ["ready", "Succeeded"],
  ["error", "Failed or stopped"],
];

/**
 * Runs, newest first. Two runs can be selected and compared. With `limit`, only the latest ones without
 * controls.
 */
export function RunList({ clusterId, limit }: { clusterId?: number; limit?: number }) {
  const [offset, setOffset] = useParam("offset", "0");
  const [status, setStatus] = useParam("status", "");
  const nameOf = useClusterNames(clusterId === undefined);
  const [selected, setSelected] = useState<number[]>([]);
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
    return <EmptyState title="No runs yet">Create a plan for a cluster, review it and apply it.</EmptyState>;
  }
  const toggle = (id: number) => setSelected((ids) => (ids.includes(id) ? ids.filter((other) => other !== id) : [...ids.slice(-1), id]));
  return (
    <div className="stack tight">
      {!limit && (
        <div className="toolbar">
          <Link
            className="button small"
            aria-disabled={selected.length !== 2}
            title={selected.length === 2 ? undefined : "Select two runs to compare them"}
            to={selected.length === 2 ? `/runs/compare?a=${Math.min(...selected)}&b=${Math.max(...selected)}` : "#"}
          >
            Compare runs
          </Link>
          <select aria-label="Status" value={status} onChange={(event) => setStatus(event.target.value)}>
            {STATUS_FILTERS.map(([value, name]) => (
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
      {items.length === 0 && <EmptyState title="No runs with this status">Select another status above.</EmptyState>}
      {items.length > 0 && (
        <div className="tablewrap">
          <table aria-label="Runs">
            <thead>
              <tr>
                {!limit && (
                  <th className="checkbox">
                    <span className="sr">Select</span>
                  </th>
                )}
                <th>Run</th>
                <th>Status</th>
                {clusterId === undefined && <th>Cluster</th>}
                <th className="num">Progress</th>
                <th>Started</th>
                <th>Duration</th>
                <th>Message</th>
              </tr>
            </thead>
            <tbody>
              {items.map((run) => (
                <tr key={run.id}>
                  {!limit && (
                    <td className="checkbox">
                      <input
                        type="checkbox"
                        title="Select two runs to compare them"
                        aria-label={`Select run ${run.id}`}
                        checked={selected.includes(run.id)}
                        onChange={() => toggle(run.id)}
                      />
                    </td>
                  )}
                  <td>
                    <Link to={`/runs/${run.id}`}>#{run.id}</Link>
                    {run.dry_run && <span className="muted"> dry run</span>}
                  </td>
                  <td>
                    <RunStatus run={run} />
                  </td>
                  {clusterId === undefined && (
                    <td>{run.cluster == null ? <span className="muted">deleted</span> : <Link to={`/clusters/${run.cluster}`}>{nameOf(run.cluster)}</Link>}</td>
                  )}
                  <td className="num">{run.progress} %</td>
                  <td>
                    <Time at={run.time_start} />
                  </td>
                  <td>
                    <Duration from={run.time_start} to={run.time_end} />
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
