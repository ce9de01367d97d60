import { useMutation, useQuery } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { api, data, type Schemas } from "../../api/client";
import { usePermission } from "../../app/identity";
import { NodePicker } from "../../components/NodePicker";
import { PageHead } from "../../components/PageHead";
import { Problem } from "../../components/Problem";
import { useParam, useSetParams } from "../../lib/params";
import { Explanation } from "./Explanation";
import { Reference } from "./Reference";

const SAMPLE = '{\n  "nodes": [\n    {"name": "alpha", "roles": ["controller"]},\n    {"name": "beta", "roles": ["compute"]}\n  ]\n}';

/** Playground for expressions over the state of a node or custom data, and the function reference. */
export default function Yaql() {
  const canOperate = usePermission("operate");
  return (
    <div className="page">
      <PageHead title="YAQL" aside={<span className="muted">query language of computed task fields</span>} />
      {canOperate ? <Playground /> : <p className="muted">Evaluating expressions reveals the state of nodes and requires the operator role.</p>}
      <Reference />
    </div>
  );
}

function Playground() {
  const [expression, setExpression] = useParam("e", '$.nodes.where("controller" in $.roles).name');
  const [cluster] = useParam("cluster", "");
  const setParams = useSetParams();
  const [node, setNode] = useParam("node", "");
  const [task, setTask] = useParam("task", "");
  const [customData, setCustomData] = useState(SAMPLE);
  const clusters = useQuery({ queryKey: ["clusters"], queryFn: () => data(api.GET("/api/v1/clusters")) });
  const evaluate = useMutation({
    mutationFn: () => {
      const body: Schemas["YaqlQuestion"] = { expression };
      if (cluster && node) Object.assign(body, { cluster: Number(cluster), node: Number(node), ...(task && { task }) });
      else body.data = JSON.parse(customData) as Record<string, unknown>;
      return data(api.POST("/api/v1/yaql/evaluate", { body }));
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    evaluate.mutate();
  };
  const isReady = expression.trim() !== "" && (cluster === "" || node !== "");
  return (
    <div className="columns">
      <form className="card stack" onSubmit={submit} aria-label="Expression">
        <div className="field">
          <label htmlFor="expression">Expression</label>
          <textarea
            id="expression"
            rows={5}
            spellCheck={false}
            value={expression}
            onChange={(event) => setExpression(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) evaluate.mutate();
            }}
          />
          <span className="hint">Press Ctrl+Enter to evaluate.</span>
        </div>
        <div className="row">
          <div className="field">
            <label htmlFor="input">Input</label>
            <select
              id="input"
              value={cluster}
              onChange={(event) => setParams({ cluster: event.target.value, node: "" })}
            >
              <option value="">Custom data</option>
              {clusters.data?.map((option) => (
                <option key={option.id} value={option.id}>
                  {option.name}
                </option>
              ))}
            </select>
          </div>
          {cluster && (
            <>
              <div className="field">
                <label htmlFor="node">Node</label>
                <NodePicker id="node" label="Node" cluster={cluster} node={node} select={setNode} />
              </div>
              <div className="field">
                <label htmlFor="task">Applied state of task</label>
                <input id="task" type="text" placeholder="none" value={task} onChange={(event) => setTask(event.target.value)} />
              </div>
            </>
          )}
        </div>
        {!cluster && (
          <div className="field">
            <label htmlFor="data">Data (JSON)</label>
            <textarea id="data" rows={8} spellCheck={false} value={customData} onChange={(event) => setCustomData(event.target.value)} />
          </div>
        )}
        <div className="row">
          <button type="submit" className="button primary" disabled={!isReady || evaluate.isPending}>
            Evaluate
          </button>
        </div>
      </form>
      <section className="card stack" aria-label="Result" aria-live="polite">
        <h2>Result</h2>
        {evaluate.isError && <Problem error={evaluate.error} />}
        {evaluate.isIdle && <p className="muted">Enter an expression, then select Evaluate.</p>}
        {evaluate.data && <Explanation answer={evaluate.data} expression={expression} />}
      </section>
    </div>
  );
}
