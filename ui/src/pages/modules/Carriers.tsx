import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { LoadingRows } from "../../components/Loading";
import { NodePicker } from "../../components/NodePicker";
import { Problem } from "../../components/Problem";
import { Status } from "../../components/Status";
import { Time } from "../../components/Time";
import { count } from "../../lib/format";
import type { Status as Word } from "../../lib/status";
import { apply, carriers, takeOff, type Module } from "./api";

const WORDS: Record<string, Word> = { OK: "success", ERROR: "failed", PENDING: "running" };

/** What became of a module on each node that has it. */
export function Carriers({ module, mayWrite }: { module: Module; mayWrite: boolean }) {
  const queries = useQueryClient();
  const [node, setNode] = useState("");
  const results = useQuery(carriers(module.id));
  const onSettled = () => queries.invalidateQueries({ queryKey: ["modules"] });
  const give = useMutation({ mutationFn: () => apply(node, module.id), onSettled });
  const take = useMutation({ mutationFn: (instance: string) => takeOff(instance, module.id), onSettled });
  const error = give.error ?? take.error;
  return (
    <section className="stack tight" aria-label="Nodes">
      <h3>Nodes that carry it</h3>
      {results.isPending && <LoadingRows rows={2} />}
      {results.isError && <Problem error={results.error} retry={() => void results.refetch()} />}
      {results.data?.total === 0 && <p className="muted">None yet.</p>}
      <ul className="stack tight">
        {results.data?.shown.map(({ instance, result }) => (
          <li key={instance.id} className="row">
            <strong>{instance.name}</strong>
            {result && <Status status={WORDS[result.status.toUpperCase()] ?? "pending"} word={result.status.toLowerCase()} />}
            {result && <Time at={result.updated.replace(" ", "T")} />}
            {result && result.md5 !== module.md5 && <span className="chip">older contents</span>}
            {mayWrite && (
              <button type="button" className="button small" disabled={take.isPending} onClick={() => take.mutate(instance.id)} aria-label={`Take off ${instance.name}`}>
                Take off
              </button>
            )}
            {result?.message && <span className="muted small-text">{result.message}</span>}
          </li>
        ))}
      </ul>
      {results.data && results.data.total > results.data.shown.length && <p className="muted">and {count(results.data.total - results.data.shown.length, "more node", "more nodes")}</p>}
      {error && <Problem error={error} />}
      {mayWrite && (
        <div className="row">
          <NodePicker id="apply-to" label="Node to apply it to" node={node} choose={setNode} />
          <button type="button" className="button" disabled={node === "" || give.isPending} onClick={() => give.mutate()}>
            {give.isPending ? "Applying…" : "Apply"}
          </button>
        </div>
      )}
    </section>
  );
}
