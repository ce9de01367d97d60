import { useEffect, useRef, type ReactNode } from "react";
import { Problem } from "./Problem";

/** Modal dialog that confirms an action. `children` name its consequences. */
export function Confirm({ title, action, cancel = "Cancel", isDanger, isBusy, error, onConfirm, onClose, children }: {
  title: string;
  action: string;
  /** Label of the button that closes the dialog; null for none. */
  cancel?: string | null;
  isDanger?: boolean;
  isBusy?: boolean;
  error?: unknown;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" onClose={onClose}>
      <div className="stack">
        <h2 id="confirm-title">{title}</h2>
        <div className="stack">{children}</div>
        {error != null && <Problem error={error} />}
        <div className="row">
          <button
            type="button"
            className={`button ${isDanger ? "danger" : "primary"}`}
            disabled={isBusy}
            onClick={onConfirm}
          >
            {action}
          </button>
          {cancel !== null && (
            <button type="button" className="button" onClick={() => dialog.current?.close()}>
              {cancel}
            </button>
          )}
        </div>
      </div>
    </dialog>
  );
}
