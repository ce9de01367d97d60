import { useEffect, useRef, useState } from "react";
import { useNavigate } from "react-router";

const PLACES: Record<string, [string, string]> = {
  c: ["/clusters", "Clusters"],
  r: ["/runs", "Runs"],
  y: ["/yaql", "YAQL"],
  m: ["/modules", "Modules"],
  a: ["/admin", "Admin"],
};
const OTHERS: [string, string][] = [
  ["/", "search on this page"],
  ["j / k", "next and previous row of a list"],
  ["Enter", "open the row"],
  ["Esc", "close what is open"],
  ["?", "show these keys"],
];

/** The keys of ui pages. They do nothing while somebody types. */
export function Shortcuts() {
  const navigate = useNavigate();
  const dialog = useRef<HTMLDialogElement>(null);
  const [, render] = useState(0);
  const waitsForPlace = useRef(false);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (waitsForPlace.current) {
        waitsForPlace.current = false;
        const place = PLACES[event.key];
        if (place) void navigate(place[0]);
        return;
      }
      if (event.key === "g") waitsForPlace.current = true;
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
    <dialog ref={dialog} aria-labelledby="keys-title">
      <div className="stack">
        <h2 id="keys-title">Keys</h2>
        <table>
          <tbody>
            {Object.entries(PLACES).map(([key, [, name]]) => (
              <tr key={key}>
                <td>
                  <kbd>g</kbd> <kbd>{key}</kbd>
                </td>
                <td>go to {name}</td>
              </tr>
            ))}
            {OTHERS.map(([key, does]) => (
              <tr key={key}>
                <td>
                  <kbd>{key}</kbd>
                </td>
                <td>{does}</td>
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

/** Rows are followed by their first link or button, which has the focus. */
function moveRow(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main tbody tr, main [data-row]")];
  if (rows.length === 0) return;
  const now = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[Math.min(rows.length - 1, Math.max(0, now + step))];
  next?.querySelector<HTMLElement>("a, button")?.focus();
}
