import { SYMBOLS, type Status as StatusName } from "../lib/status";

export function Status({ status, label }: { status: StatusName; label?: string }) {
  return (
    <span className={`status status-${status}`}>
      <span className="symbol" aria-hidden="true">
        {SYMBOLS[status]}
      </span>
      {label ?? status}
    </span>
  );
}
