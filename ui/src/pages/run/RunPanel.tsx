import { useQuery } from "@tanstack/react-query";
import { LoadingRows } from "../../components/Loading";
import { Log } from "../../components/Log";
import { Panel } from "../../components/Panel";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { Time, Took } from "../../components/Time";
import { useNodeNames } from "../../lib/nodeNames";
import { statusOfRecord } from "../../lib/status";
import { Reason, useInstance } from "../plan/InstancePanel";
import { Again } from "./Again";
import { Earlier } from "./Earlier";
import { historyOf } from "./history";
import { Words } from "../../components/Words";

/** Everything about a task on a node in a run. */
export function RunPanel({ partId, runId, clusterId, planId, task, node, isActive, mayOperate, close }: {
  partId: number;
  runId: number;
  clusterId?: number | null;
  planId: number;
  task: string;
  node: string;
  isActive: boolean;
  mayOperate: boolean;
  close: () => void;
}) {
  const history = useQuery(historyOf(partId, { nodes: node === "sync" ? "-" : node, tasks_names: task, include_summary: "1" }));
  const planned = useInstance(planId, task, node);
  const nameOf = useNodeNames([node]);
  const record = history.data?.[0];
  const status = record && statusOfRecord(record.status, record.outcome);
  const hasBegun = record?.time_start != null;
  return (
    <Panel title={`${task} on ${nameOf(node)}`} aside={status && <Status status={status} />} close={close}>
      {history.isPending && <LoadingRows rows={3} />}
      {history.isError && <Problem error={history.error} retry={() => void history.refetch()} />}
      {record && (
        <dl className="facts">
          {record.reason && (
            <>
              <dt>Because</dt>
              <dd>
                <Words text={record.reason} />
              </dd>
            </>
          )}
          {hasBegun && (
            <>
              <dt>Started</dt>
              <dd>
                <Time at={record.time_start} />
              </dd>
              <dt>Took</dt>
              <dd>
                <Took from={record.time_start} to={record.time_end} />
              </dd>
            </>
          )}
          {record.attempts !== undefined && record.attempts > 1 && (
            <>
              <dt>Attempts</dt>
              <dd>{record.attempts}</dd>
            </>
          )}
        </dl>
      )}
      {hasBegun && mayOperate && !isActive && <Again runId={runId} task={task} node={node} />}
      {hasBegun && (
        <section className="stack tight" aria-label="Output">
          <h3>Output</h3>
          <Log runId={partId} task={task} node={node} isLive={isActive && status === "running"} />
        </section>
      )}
      {planned.data?.[0] && <Reason instance={planned.data[0]} />}
      {clusterId != null && <Earlier clusterId={clusterId} runId={runId} task={task} node={node} />}
    </Panel>
  );
}
