import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";
import { api, data } from "../../api/client";
import { LoadingRows } from "../../components/Loading";
import { EmptyState, PageHead } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { compareRuns } from "../../lib/compareRuns";
import { count, duration } from "../../lib/format";
import { useNodeNames } from "../../lib/nodeNames";
import { historyOf } from "./history";

/** Maximum number of differences to list. */
const ROWS_MAX = 500;

/** Comparison of two runs: different results and different durations. */
export default function Compare() {
  const [params] = useSearchParams();
  const ids = [Number(params.get("a")), Number(params.get("b"))] as const;
  const a = useQuery(historyOf(ids[0], {}));
  const b = useQuery(historyOf(ids[1], {}));
  const plans = useQuery({ queryKey: ["runs", "compare-plans", ...ids], queryFn: () => comparePlans(ids) });
  const error = a.error ?? b.error;
  const rows = a.data && b.data ? compareRuns(a.data, b.data) : undefined;
  const visibleRows = rows?.slice(0, ROWS_MAX) ?? [];
  const nameOf = useNodeNames(visibleRows.map((row) => row.node));
  return (
    <div className="page">
      <PageHead title={`Comparison of runs #${ids[0]} and #${ids[1]}`} crumbs={[["Runs", "/runs"]]} />
      {error && <Problem error={error} />}
      {!rows && !error && <LoadingRows />}
      {plans.data !== undefined && <p className="muted">{plans.data}</p>}
      {rows?.length === 0 && <EmptyState title="No differences">Both runs have the same results and similar durations.</EmptyState>}
      {rows && rows.length > 0 && (
        <div className="tablewrap">
          <table aria-label="Differences">
            <thead>
              <tr>
                <th>Task</th>
                <th>Node</th>
                {ids.map((id) => (
                  <th key={id}>
                    <Link to={`/runs/${id}`}>Run #{id}</Link>
                  </th>
                ))}
                <th className="num">Duration change</th>
              </tr>
            </thead>
            <tbody>
              {visibleRows.map((row) => (
                <tr key={`${row.task} ${row.node}`}>
                  <td>{row.task}</td>
                  <td>{nameOf(row.node)}</td>
                  <td>{row.a ? <Status status={row.a} /> : <span className="muted">absent</span>}</td>
                  <td>{row.b ? <Status status={row.b} /> : <span className="muted">absent</span>}</td>
                  <td className="num">{row.longerMs === undefined ? "" : `${row.longerMs < 0 ? "−" : "+"}${duration(Math.abs(row.longerMs))}`}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows && rows.length > ROWS_MAX && <p className="muted">and {count(rows.length - ROWS_MAX, "more difference")}</p>}
    </div>
  );
}

/** Describes how the plans of the first child runs differ; empty if a run has no plan. */
async function comparePlans(ids: readonly [number, number]): Promise<string> {
  const runs = await Promise.all(ids.map((id) => data(api.GET("/api/v1/runs/{id}", { params: { path: { id } } }))));
  const [plan, other] = runs.map((run) => run.parts[0]?.plan_id);
  if (plan == null || other == null) return "";
  if (plan === other) return "Both runs applied the same plan.";
  const compared = await data(api.GET("/api/v1/plans/{id}/compare/{other}", { params: { path: { id: plan, other } } }));
  return `The plans differ in ${count(compared.changes.length, "task")}.`;
}
