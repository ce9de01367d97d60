// Tracks whether the server is reachable. While it is not, polls its health; on recovery, notifies the
// listeners, so that all queries are refetched.
import { store } from "../lib/store";

const POLL_INTERVAL_MS = 3000;

const state = store<"connected" | "lost">("connected");
let timer: ReturnType<typeof setTimeout> | undefined;
const listeners = new Set<() => void>();

async function poll(): Promise<void> {
  try {
    const response = await fetch("/api/v1/health");
    if (response.ok) return connection.markRestored();
  } catch {
    // Still unreachable: poll again.
  }
  timer = setTimeout(poll, POLL_INTERVAL_MS);
}

export const connection = {
  use: state.use,
  markLost() {
    if (state.get() === "lost") return;
    state.set("lost");
    timer = setTimeout(poll, POLL_INTERVAL_MS);
  },
  markRestored() {
    if (state.get() === "connected") return;
    clearTimeout(timer);
    state.set("connected");
    for (const listener of listeners) listener();
  },
  /** Polls immediately instead of after the interval. */
  retry() {
    clearTimeout(timer);
    void poll();
  },
  async isReachable(): Promise<boolean> {
    try {
      return (await fetch("/api/v1/health")).ok;
    } catch {
      return false;
    }
  },
  async waitUntilRestored(): Promise<void> {
    connection.markLost();
    await new Promise<void>((resolve) => {
      const unsubscribe = connection.onRestored(() => {
        unsubscribe();
        resolve();
      });
    });
  },
  onRestored(listener: () => void): () => void {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};
