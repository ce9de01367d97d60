import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { api, data, type Schemas } from "../../api/client";
import { LoadingRows } from "../../components/Loading";
import { Panel } from "../../components/Panel";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { useNodeNames } from "../../lib/nodeNames";
import { toYaml } from "../../lib/yamlWrite";
import { Words } from "../../components/Words";

/** Why a task runs on a node, or does not. */
export function InstancePanel({ planId, clusterId, graphType, task, node, close }: {
  planId: number;
  clusterId: number;
  graphType: string;
  task: string;
  node: string;
  close: () => void;
}) {
  const found = useInstance(planId, task, node);
  const nameOf = useNodeNames([node]);
  const instance = found.data?.[0];
  return (
    <Panel
      title={`${task} on ${nameOf(node)}`}
      aside={instance && <Status status={instance.action === "run" ? "ready" : "skipped"} word={instance.action === "run" ? "runs" : "skipped"} />}
      close={close}
    >
      {found.isPending && <LoadingRows rows={4} />}
      {found.isError && <Problem error={found.error} retry={() => void found.refetch()} />}
      {instance && <Reason instance={instance} />}
      <Link to={`/clusters/${clusterId}/graphs/${encodeURIComponent(graphType)}?task=${encodeURIComponent(task)}`}>
        Show {task} in the graph
      </Link>
    </Panel>
  );
}

export function useInstance(planId: number | null | undefined, task: string, node: string) {
  return useQuery({
    queryKey: ["plans", "one", planId, "instance", task, node],
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
        <h3>Why</h3>
        <p>
          <Words text={instance.reason} />
        </p>
        {instance.decided_by.length > 0 && (
          <div>
            <span className="muted small-text">decided by</span>
            {instance.decided_by.map((part) => (
              <pre key={part} className="tok-yaql">
                {part}
              </pre>
            ))}
          </div>
        )}
      </section>
      {instance.differences.length > 0 && (
        <section className="stack tight" aria-label="Differences">
          <h3>What changed</h3>
          <ul className="stack tight">
            {instance.differences.map((one) => (
              <li key={one.path}>
                <code>{one.path}</code>
                <pre className="diff-del">− {one.old ?? "(nothing)"}</pre>
                <pre className="diff-add">+ {one.new ?? "(nothing)"}</pre>
              </li>
            ))}
          </ul>
        </section>
      )}
      {instance.type && (
        <section className="stack tight" aria-label="Parameters">
          <h3>
            What its executor gets <span className="chip">{instance.type}</span>
          </h3>
          <pre>{toYaml(instance.parameters ?? {}).trimEnd()}</pre>
        </section>
      )}
    </>
  );
}
