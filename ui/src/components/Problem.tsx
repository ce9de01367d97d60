import { asFailure, type ErrorItem } from "../api/client";
import { Words } from "./Words";

/** A failure where it belongs, with everything the server told about it. */
export function Problem({ error, title, retry }: { error: unknown; title?: string; retry?: () => void }) {
  const failure = asFailure(error);
  const items = failure.items.filter((item) => item.message !== failure.message || item.line != null);
  return (
    <div className="problem" role="alert">
      <strong>{title ? `${title}: ` : ""}</strong>
      <Words text={failure.message} />
      {items.length > 0 && (
        <ul>
          {items.slice(0, 100).map((item, place) => (
            <li key={place}>
              <Item item={item} />
            </li>
          ))}
          {items.length > 100 && <li className="muted">and {items.length - 100} more</li>}
        </ul>
      )}
      {retry && failure.status !== 403 && failure.status !== 404 && (
        <p style={{ marginTop: 8 }}>
          <button type="button" className="button small" onClick={retry}>
            Try again
          </button>
        </p>
      )}
    </div>
  );
}

function Item({ item }: { item: ErrorItem }) {
  const line = item.line == null ? undefined : item.file ? `${item.file}:${item.line}` : `line ${item.line}`;
  const place = [line, item.path].filter(Boolean).join(", ");
  return (
    <>
      {place && <code>{place}: </code>}
      <Words text={item.message} />
      {item.nodes && item.nodes.length > 0 && <span className="muted"> (node {item.nodes.join(", ")})</span>}
      {item.help && (
        <div className="help">
          <Words text={item.help} />
        </div>
      )}
    </>
  );
}
