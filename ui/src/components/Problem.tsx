import { asFailure, type ErrorItem } from "../api/client";
import { MessageText } from "./MessageText";

/** Error message with all problems that the server reported, their source locations and hints. */
export function Problem({ error, title, retry }: { error: unknown; title?: string; retry?: () => void }) {
  const failure = asFailure(error);
  const items = failure.items.filter((item) => item.message !== failure.message || item.line != null);
  return (
    <div className="problem" role="alert">
      <strong>{title ? `${title}: ` : ""}</strong>
      <MessageText text={failure.message} />
      {items.length > 0 && (
        <ul>
          {items.slice(0, 100).map((item, index) => (
            <li key={index}>
              <Item item={item} />
            </li>
          ))}
          {items.length > 100 && <li className="muted">and {items.length - 100} more</li>}
        </ul>
      )}
      {retry && failure.status !== 403 && failure.status !== 404 && (
        <p style={{ marginTop: 8 }}>
          <button type="button" className="button small" onClick={retry}>
            Retry
          </button>
        </p>
      )}
    </div>
  );
}

function Item({ item }: { item: ErrorItem }) {
  const line = item.line == null ? undefined : item.file ? `${item.file}:${item.line}` : `line ${item.line}`;
  const location = [line, item.path].filter(Boolean).join(", ");
  return (
    <>
      {location && <code>{location}: </code>}
      <MessageText text={item.message} />
      {item.nodes && item.nodes.length > 0 && <span className="muted"> (node {item.nodes.join(", ")})</span>}
      {item.help && (
        <div className="help">
          <MessageText text={item.help} />
        </div>
      )}
    </>
  );
}
