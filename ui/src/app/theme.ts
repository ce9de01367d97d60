import { store } from "../lib/store";

export type Theme = "light" | "dark";
const KEY = "stoker.theme";

const state = store<Theme>("light");

function apply(value: Theme): void {
  document.documentElement.dataset.theme = value;
  state.set(value);
}

/** The user's choice, or that of the system until there is one. */
export const theme = {
  use: state.use,
  begin() {
    let kept: string | null = null;
    try {
      kept = localStorage.getItem(KEY);
    } catch {
      // Without storage the system decides.
    }
    const system = matchMedia("(prefers-color-scheme: dark)");
    apply(kept === "light" || kept === "dark" ? kept : system.matches ? "dark" : "light");
    if (!kept) system.addEventListener("change", (event) => apply(event.matches ? "dark" : "light"));
  },
  toggle() {
    const next: Theme = state.get() === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // It holds for this page.
    }
    apply(next);
  },
};
