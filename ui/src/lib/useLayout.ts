import { useEffect, useState } from "react";
import type { Layout, LayoutInput } from "./layout";

interface Done {
  key: string;
  layout: Layout;
  ms: number;
}

/** Drawings that were made, by what they are of: nothing jumps when a page is opened again. */
const kept = new Map<string, Done>();
const KEPT_MAX = 20;

/** Lays a graph out where it holds up nobody. While a new one is made, the old one stays. */
export function useLayout(input: LayoutInput | undefined): Done | undefined {
  const key = input ? JSON.stringify(input) : "";
  const [done, setDone] = useState<Done | undefined>(() => kept.get(key));
  useEffect(() => {
    if (!key) return undefined;
    const known = kept.get(key);
    if (known) {
      setDone(known);
      return undefined;
    }
    const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = (event: MessageEvent<{ result: Layout; ms: number }>) => {
      const made = { key, layout: event.data.result, ms: event.data.ms };
      if (kept.size >= KEPT_MAX) kept.delete(kept.keys().next().value ?? "");
      kept.set(key, made);
      setDone(made);
      worker.terminate();
    };
    worker.postMessage({ id: 1, input: JSON.parse(key) as LayoutInput });
    return () => worker.terminate();
  }, [key]);
  return done;
}
