import { useEffect, useState } from "react";
import type { Layout, LayoutInput } from "./layout";

interface ComputedLayout {
  key: string;
  layout: Layout;
  ms: number;
}

/**
 * Cache of layouts by input, oldest evicted first: a page that is opened again shows its graph without delay.
 */
const cache = new Map<string, ComputedLayout>();
const CACHE_MAX = 20;

/** Computes a layout in a worker. Returns the previous layout until the new one is ready. */
export function useLayout(input: LayoutInput | undefined): ComputedLayout | undefined {
  const key = input ? JSON.stringify(input) : "";
  const [current, setCurrent] = useState<ComputedLayout | undefined>(() => cache.get(key));
  useEffect(() => {
    if (!key) return undefined;
    const cached = cache.get(key);
    if (cached) {
      setCurrent(cached);
      return undefined;
    }
    const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = (event: MessageEvent<{ result: Layout; ms: number }>) => {
      const computed = { key, layout: event.data.result, ms: event.data.ms };
      if (cache.size >= CACHE_MAX) cache.delete(cache.keys().next().value ?? "");
      cache.set(key, computed);
      setCurrent(computed);
      worker.terminate();
    };
    worker.postMessage({ id: 1, input: JSON.parse(key) as LayoutInput });
    return () => worker.terminate();
  }, [key]);
  return current;
}
