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
          <h3>What each part was</h3>
          <ul style={{ border: 0, padding: 0 }}>
            <Part part={explanation} />
          </ul>
        </div>
      )}
    </>
  );
}

function Part({ part }: { part: Schemas["YaqlPart"] }) {
  const parts = part.parts as Schemas["YaqlPart"][];
  return (
    <li>
      <code className="tok-yaql">{part.text}</code>{" "}
      <span className="muted small-text">
        {part.error ?? (part.count === 0 ? "was not needed" : part.values.join(", "))}
        {part.count > part.values.length && part.count > 1 && ` … ${part.count} times`}
      </span>
      {parts.length > 0 && (
        <ul>
          {parts.map((one, place) => (
            <Part key={place} part={one} />
          ))}
        </ul>
      )}
    </li>
  );
}
