import { SIGNS, type Status as Word } from "../lib/status";

export function Status({ status, word }: { status: Word; word?: string }) {
  return (
    <span className={`status status-${status}`}>
      <span className="sign" aria-hidden="true">
        {SIGNS[status]}
      </span>
      {word ?? status}
    </span>
  );
}
