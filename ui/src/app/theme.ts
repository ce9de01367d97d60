import { store } from "../lib/store";

export type Theme = "light" | "dark";
const KEY = "stoker.theme";

const state = store<Theme>("light");

function apply(value: Theme): void {
  document.documentElement.dataset.theme = value;
  state.set(value);
}

/** The theme that the user selected; the system's theme by default. */
export const theme = {
  use: state.use,
  init() {
    let stored: string | null = null;
    try {
      stored = localStorage.getItem(KEY);
    } catch {
      // Storage is disabled: use the system's theme.
    }
    const system = matchMedia("(prefers-color-scheme: dark)");
    apply(stored === "light" || stored === "dark" ? stored : system.matches ? "dark" : "light");
    if (!stored) system.addEventListener("change", (event) => apply(event.matches ? "dark" : "light"));
  },
  toggle() {
    const next: Theme = state.get() === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // Storage is disabled: the selection lasts until the page is closed.
    }
    apply(next);
  },
};
