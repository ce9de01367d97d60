import type { Schemas } from "../../api/client";
import { count, duration } from "../../lib/format";
import { useNodeNames } from "../../lib/nodeNames";
import { Words } from "../../components/Words";

/** What else is to be said about a plan, folded. */
export function Notes({ plan }: { plan: Schemas["PlanSummary"] }) {
  const path = plan.estimate.critical_path;
  const nameOf = useNodeNames([...path.map((step) => step.node), ...plan.excluded.flatMap((one) => one.nodes)]);
  return (
    <div className="stack tight" style={{ flex: 1, minWidth: 260 }}>
      {plan.warnings.length > 0 && (
        <details>
          <summary>{count(plan.warnings.length, "warning")}</summary>
          <ul className="stack tight" style={{ padding: "8px 0", maxHeight: 200, overflow: "auto" }}>
            {plan.warnings.map((warning, place) => (
              <li key={place}>
                {warning.task && <code>{warning.task} </code>}
                <Words text={warning.message} />
                {warning.help && <span className="muted"> {warning.help}</span>}
                {warning.layer && (
                  <span className="muted small-text">
                    {" "}
                    {warning.file ?? "uploaded"}
                    {warning.line != null && `:${warning.line}`}, layer {warning.layer}
                  </span>
                )}
              </li>
            ))}
          </ul>
        </details>
      )}
      {plan.excluded.length > 0 && (
        <details>
          <summary>{count(plan.excluded.reduce((sum, one) => sum + one.n_nodes, 0), "node takes", "nodes take")} no part</summary>
          <ul className="stack tight" style={{ padding: "8px 0" }}>
            {plan.excluded.map((one) => (
              <li key={one.why}>
                {one.nodes.map(nameOf).join(", ")}
                {one.n_nodes > one.nodes.length && ` and ${one.n_nodes - one.nodes.length} more`}: {one.why}
              </li>
            ))}
          </ul>
        </details>
      )}
      {path.length > 0 && (
        <details>
          <summary>Critical path: {count(path.length, "step")}</summary>
          <ol style={{ padding: "8px 0", maxHeight: 200, overflow: "auto" }}>
            {path.map((step, place) => (
              <li key={place} className="row">
                <code>{step.task}</code> <span className="muted">on {nameOf(step.node)}</span>
                <span className="muted">{plan.estimate.n_known > 0 && duration(step.ms)}</span>
              </li>
            ))}
          </ol>
        </details>
      )}
    </div>
  );
}
