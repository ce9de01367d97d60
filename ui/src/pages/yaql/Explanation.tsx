import type { Schemas } from "../../api/client";
import { caretAt } from "../../lib/caret";

export function Explanation({ answer, expression }: { answer: Schemas["YaqlAnswer"]; expression: string }) {
  const { error, explanation, reads } = answer;
  return (
    <>
      {error ? (
        <div className="problem">
          <strong>{error.message}</strong>
          {error.start != null && <pre>{caretAt(expression, error.start, error.end ?? error.start)}</pre>}
          {error.help && <p className="help">{error.help}</p>}
        </div>
      ) : (
        <pre data-testid="result" style={{ maxHeight: 320, overflow: "auto" }}>
          {JSON.stringify(answer.value, null, 2)}
        </pre>
      )}
      {reads.length > 0 && (
        <div>
          <h3>Reads</h3>
          <div className="row">
            {reads.map((path) => (
              <code key={path} className="chip">
                {path}
              </code>
            ))}
          </div>
        </div>
      )}
      {explanation && (
        <div className="tree">
          <h3>Subexpressions</h3>
          <ul style={{ border: 0, padding: 0 }}>
            <Subexpression subexpression={explanation} />
          </ul>
        </div>
      )}
    </>
  );
}

function Subexpression({ subexpression }: { subexpression: Schemas["YaqlPart"] }) {
  const children = subexpression.parts as Schemas["YaqlPart"][];
  return (
    <li>
      <code className="tok-yaql">{subexpression.text}</code>{" "}
      <span className="muted small-text">
        {subexpression.error ?? (subexpression.count === 0 ? "not evaluated" : subexpression.values.join(", "))}
        {subexpression.count > subexpression.values.length && subexpression.count > 1 && ` … evaluated ${subexpression.count} times`}
      </span>
      {children.length > 0 && (
        <ul>
          {children.map((child, index) => (
            <Subexpression key={index} subexpression={child} />
          ))}
        </ul>
      )}
    </li>
  );
}
