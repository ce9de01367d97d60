import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { LoadingRows } from "../../components/Loading";
import { NodePicker } from "../../components/NodePicker";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { Time } from "../../components/Time";
import { count } from "../../lib/format";
import type { Status as StatusName } from "../../lib/status";
import { apply, moduleNodes, removeFromNode, type Module } from "./api";

const STATUSES: Record<string, StatusName> = { OK: "success", ERROR: "failed", PENDING: "running" };

/** Nodes that a module is applied to, with their results. */
export function ModuleNodes({ module, canWrite }: { module: Module; canWrite: boolean }) {
  const queries = useQueryClient();
  const [node, setNode] = useState("");
  const results = useQuery(moduleNodes(module.id));
  const onSettled = () => queries.invalidateQueries({ queryKey: ["modules"] });
  const applyToNode = useMutation({ mutationFn: () => apply(node, module.id), onSettled });
  const removal = useMutation({ mutationFn: (instance: string) => removeFromNode(instance, module.id), onSettled });
  const error = applyToNode.error ?? removal.error;
  return (
    <section className="stack tight" aria-label="Nodes">
      <h3>Nodes</h3>
      {results.isPending && <LoadingRows rows={2} />}
      {results.isError && <Problem error={results.error} retry={() => void results.refetch()} />}
      {results.data?.total === 0 && <p className="muted">Not applied to any node yet.</p>}
      <ul className="stack tight">
        {results.data?.entries.map(({ instance, result }) => (
          <li key={instance.id} className="row">
            <strong>{instance.name}</strong>
            {result && <Status status={STATUSES[result.status.toUpperCase()] ?? "pending"} label={result.status.toLowerCase()} />}
            {result && <Time at={result.updated.replace(" ", "T")} />}
            {result && result.md5 !== module.md5 && <span className="chip">outdated contents</span>}
            {result?.message && <span className="muted small-text">{result.message}</span>}
            {canWrite && (
              <button type="button" className="button small" disabled={removal.isPending} onClick={() => removal.mutate(instance.id)} aria-label={`Remove from ${instance.name}`}>
                Remove
              </button>
            )}
          </li>
        ))}
      </ul>
      {results.data && results.data.total > results.data.entries.length && <p className="muted">and {count(results.data.total - results.data.entries.length, "more node", "more nodes")}</p>}
      {error && <Problem error={error} />}
      {canWrite && (
        <div className="row">
          <NodePicker id="apply-to" label="Target node" node={node} select={setNode} />
          <button type="button" className="button" disabled={node === "" || applyToNode.isPending} onClick={() => applyToNode.mutate()}>
            {applyToNode.isPending ? "Applying…" : "Apply to node"}
          </button>
        </div>
      )}
    </section>
  );
}
