import type { Schemas } from "../../api/client";
import { count, duration } from "../../lib/format";
import { useNodeNames } from "../../lib/nodeNames";
import { MessageText } from "../../components/MessageText";

/** Warnings, excluded nodes and critical path of a plan, collapsed, and notes. */
export function Notes({ plan }: { plan: Schemas["PlanSummary"] }) {
  const path = plan.estimate.critical_path;
  const nameOf = useNodeNames([...path.map((step) => step.node), ...plan.excluded.flatMap((group) => group.nodes)]);
  return (
    <div className="stack tight" style={{ flex: 1, minWidth: 260 }}>
      {plan.warnings.length > 0 && (
        <details>
          <summary>{count(plan.warnings.length, "warning")}</summary>
          <ul className="stack tight" style={{ padding: "8px 0", maxHeight: 200, overflow: "auto" }}>
            {plan.warnings.map((warning, index) => (
              <li key={index}>
                {warning.task && <code>{warning.task} </code>}
                <MessageText text={warning.message} />
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
      {plan.notes?.map((note, index) => (
        <p key={index} className="muted">
          <MessageText text={note.message} />
          {note.help && ` (${note.help})`}
        </p>
      ))}
      {plan.excluded.length > 0 && (
        <details>
          <summary>{count(plan.excluded.reduce((sum, group) => sum + group.n_nodes, 0), "excluded node")}</summary>
          <ul className="stack tight" style={{ padding: "8px 0" }}>
            {plan.excluded.map((group) => (
              <li key={group.why}>
                {group.nodes.map(nameOf).join(", ")}
                {group.n_nodes > group.nodes.length && ` and ${group.n_nodes - group.nodes.length} more`}: {group.why}
              </li>
            ))}
          </ul>
        </details>
      )}
      {path.length > 0 && (
        <details>
          <summary>Critical path: {count(path.length, "step")}</summary>
          <ol style={{ padding: "8px 0", maxHeight: 200, overflow: "auto" }}>
            {path.map((step, index) => (
              <li key={index} className="row">
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
