// Whether the server answers. Lost: asked again every few seconds; found: everything on the page is read anew.
import { store } from "../lib/store";

const AGAIN_MS = 3000;

const state = store<"here" | "lost">("here");
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

async function ask(): Promise<void> {
  try {
    const response = await fetch("/api/v1/health");
    if (response.ok) return connection.found();
  } catch {
    // Still lost; the next question is on its way.
  }
  timer = setTimeout(ask, AGAIN_MS);
}

export const connection = {
  use: state.use,
  lost() {
    if (state.get() === "lost") return;
    state.set("lost");
    timer = setTimeout(ask, AGAIN_MS);
  },
  found() {
    if (state.get() === "here") return;
    clearTimeout(timer);
    state.set("here");
    for (const listener of listeners) listener();
  },
  /** Asks now instead of in a few seconds. */
  retry() {
    clearTimeout(timer);
    void ask();
  },
  /** Whether it answers now. */
  async isHere(): Promise<boolean> {
    try {
      return (await fetch("/api/v1/health")).ok;
    } catch {
      return false;
    }
  },
  /** Waits until it answers again. */
  async back(): Promise<void> {
    connection.lost();
    await new Promise<void>((resolve) => {
      const forget = connection.onFound(() => {
        forget();
        resolve();
      });
    });
  },
  onFound(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
