import { useEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";

const DESTINATIONS: Record<string, [string, string]> = {
  c: ["/clusters", "Clusters"],
  r: ["/runs", "Runs"],
  y: ["/yaql", "YAQL"],
  m: ["/modules", "Modules"],
  a: ["/admin", "Admin"],
};
const OTHER_SHORTCUTS: [string, string][] = [
  ["/", "Search on this page"],
  ["j / k", "Next or previous row of a list"],
  ["Enter", "Open the focused row"],
  ["Esc", "Close the open panel or dialog"],
  ["?", "Show keyboard shortcuts"],
];

/** Global keyboard shortcuts and the dialog that lists them. Ignored while a text field has the focus. */
export function Shortcuts() {
  const navigate = useNavigate();
  const dialog = useRef<HTMLDialogElement>(null);
  const [, render] = useState(0);
  const isGoPrefixPending = useRef(false);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (isGoPrefixPending.current) {
        isGoPrefixPending.current = false;
        const destination = DESTINATIONS[event.key];
        if (destination) void navigate(destination[0]);
        return;
      }
      if (event.key === "g") isGoPrefixPending.current = true;
      else if (event.key === "?") dialog.current?.showModal();
      else if (event.key === "/") {
        const search = document.querySelector<HTMLInputElement>('main input[type="search"]');
        if (search) {
          event.preventDefault();
          search.focus();
          search.select();
        }
      } else if (event.key === "j" || event.key === "k") moveRow(event.key === "j" ? 1 : -1);
      else if (event.key === "Escape") document.querySelector<HTMLElement>("[data-closes-panel]")?.click();
      render((n) => n + 1);
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [navigate]);

  return (
    <dialog ref={dialog} aria-labelledby="shortcuts-title">
      <div className="stack">
        <h2 id="shortcuts-title">Keyboard shortcuts</h2>
        <table>
          <tbody>
            {Object.entries(DESTINATIONS).map(([key, [, name]]) => (
              <tr key={key}>
                <td>
                  <kbd>g</kbd> <kbd>{key}</kbd>
                </td>
                <td>Go to {name}</td>
              </tr>
            ))}
            {OTHER_SHORTCUTS.map(([key, action]) => (
              <tr key={key}>
                <td>
                  <kbd>{key}</kbd>
                </td>
                <td>{action}</td>
              </tr>
            ))}
          </tbody>
        </table>
        <form method="dialog">
          <button type="submit" className="button">
            Close
          </button>
        </form>
      </div>
    </dialog>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** Moves the focus by `step` rows. The focus is on the first link or button of a row. */
function moveRow(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main tbody tr, main [data-row]")];
  if (rows.length === 0) return;
  const current = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[Math.min(rows.length - 1, Math.max(0, current + step))];
  next?.querySelector<HTMLElement>("a, button")?.focus();
}
