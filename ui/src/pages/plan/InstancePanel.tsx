import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { LoadingRows } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { useNodeNames } from "../../lib/nodeNames";
import { PLANNED_LABELS, plannedStatus } from "../../lib/plans";
import { toYaml } from "../../lib/yamlWrite";
import { MessageText } from "../../components/MessageText";

/** Planned action of a task instance with its reason. */
export function InstancePanel({ planId, clusterId, graphType, task, node, close }: {
  planId: number;
  clusterId: number;
  graphType: string;
  task: string;
  node: string;
  close: () => void;
}) {
  const instances = useInstance(planId, task, node);
  const nameOf = useNodeNames([node]);
  const instance = instances.data?.[0];
  return (
    <Panel
      title={`${task} on ${nameOf(node)}`}
      aside={instance && <Status status={plannedStatus(instance)} label={PLANNED_LABELS[plannedStatus(instance)]} />}
      close={close}
    >
      {instances.isPending && <LoadingRows rows={4} />}
      {instances.isError && <Problem error={instances.error} retry={() => void instances.refetch()} />}
      {instance && <Reason instance={instance} />}
      <Link to={`/clusters/${clusterId}/graphs/${encodeURIComponent(graphType)}?task=${encodeURIComponent(task)}`}>
        Show {task} in the graph
      </Link>
    </Panel>
  );
}

export function useInstance(planId: number | null | undefined, task: string, node: string) {
  return useQuery({
    queryKey: ["plans", "by-id", planId, "instance", task, node],
    enabled: planId != null,
    queryFn: () =>
      data(
        api.GET("/api/v1/plans/{id}/instances", {
          params: { path: { id: planId ?? 0 }, query: { task, node: node === "-" ? "sync" : node, parameters: "1", limit: 1 } },
        }),
      ),
  });
}

export function Reason({ instance }: { instance: Schemas["PlannedInstance"] }) {
  return (
    <>
      <section className="stack tight" aria-label="Reason">
        <h3>Reason</h3>
        <p>
          <MessageText text={instance.reason} />
        </p>
        {instance.decided_by.length > 0 && (
          <div>
            <span className="muted small-text">Decided by</span>
            {instance.decided_by.map((expression) => (
              <pre key={expression} className="tok-yaql">
                {expression}
              </pre>
            ))}
          </div>
        )}
      </section>
      {instance.differences.length > 0 && (
        <section className="stack tight" aria-label="Differences">
          <h3>Changes</h3>
          <ul className="stack tight">
            {instance.differences.map((difference) => (
              <li key={difference.path}>
                <code>{difference.path}</code>
                <pre className="diff-del">− {difference.old ?? "(not set)"}</pre>
                <pre className="diff-add">+ {difference.new ?? "(not set)"}</pre>
              </li>
            ))}
          </ul>
        </section>
      )}
      {instance.type && (
        <section className="stack tight" aria-label="Parameters">
          <h3>
            Parameters <span className="chip">{instance.type}</span>
          </h3>
          <pre>{toYaml(instance.parameters ?? {}).trimEnd()}</pre>
        </section>
      )}
    </>
  );
}
