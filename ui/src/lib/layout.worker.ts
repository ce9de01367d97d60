import { layout, type LayoutInput } from "./layout";

self.onmessage = (event: MessageEvent<{ id: number; input: LayoutInput }>) => {
  const started = performance.now();
  const result = layout(event.data.input);
  self.postMessage({ id: event.data.id, result, ms: performance.now() - started });
};
