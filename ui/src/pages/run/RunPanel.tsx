import { useQuery } from "@tanstack/react-query";
import { LoadingRows } from "../../components/Loading";
import { Log } from "../../components/Log";
import { Panel } from "../../components/Panel";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { Time, Duration } from "../../components/Time";
import { useNodeNames } from "../../lib/nodeNames";
import { statusOfRecord } from "../../lib/status";
import { Reason, useInstance } from "../plan/InstancePanel";
import { EarlierResults } from "./EarlierResults";
import { historyOf } from "./history";
import { HostChanges } from "./HostChanges";
import { RerunButton } from "./RerunButton";
import { MessageText } from "../../components/MessageText";

/** Details of a task instance in a run: result, output, plan and earlier results. */
export function RunPanel({ childRunId, runId, clusterId, planId, task, node, isActive, canOperate, close }: {
  childRunId: number;
  runId: number;
  clusterId?: number | null;
  planId: number;
  task: string;
  node: string;
  isActive: boolean;
  canOperate: boolean;
  close: () => void;
}) {
  const history = useQuery(historyOf(childRunId, { nodes: node === "sync" ? "-" : node, tasks_names: task, include_summary: "1" }));
  const planned = useInstance(planId, task, node);
  const nameOf = useNodeNames([node]);
  const record = history.data?.[0];
  const status = record && statusOfRecord(record.status, record.outcome);
  const hasStarted = record?.time_start != null;
  return (
    <Panel title={`${task} on ${nameOf(node)}`} aside={status && <Status status={status} />} close={close}>
      {history.isPending && <LoadingRows rows={3} />}
      {history.isError && <Problem error={history.error} retry={() => void history.refetch()} />}
      {record && (
        <dl className="facts">
          {record.reason && (
            <>
              <dt>Message</dt>
              <dd>
                <MessageText text={record.reason} />
              </dd>
            </>
          )}
          {hasStarted && (
            <>
              <dt>Started</dt>
              <dd>
                <Time at={record.time_start} />
              </dd>
              <dt>Duration</dt>
              <dd>
                <Duration from={record.time_start} to={record.time_end} />
              </dd>
            </>
          )}
          {record.attempts !== undefined && record.attempts > 1 && (
            <>
              <dt>Attempts</dt>
              <dd>{record.attempts}</dd>
            </>
          )}
          {record.changed != null && (
            <>
              <dt>Effect</dt>
              <dd>{record.changed ? "Changed the node" : "Changed nothing"}</dd>
            </>
          )}
        </dl>
      )}
      {hasStarted && canOperate && !isActive && <RerunButton runId={runId} task={task} node={node} />}
      {hasStarted && (
        <section className="stack tight" aria-label="Output">
          <h3>Output</h3>
          <Log runId={childRunId} task={task} node={node} isLive={isActive && status === "running"} />
        </section>
      )}
      {record?.diff && record.diff.length > 0 && <HostChanges differences={record.diff} />}
      {planned.data?.[0] && <Reason instance={planned.data[0]} />}
      {clusterId != null && <EarlierResults clusterId={clusterId} runId={runId} task={task} node={node} />}
    </Panel>
  );
}
