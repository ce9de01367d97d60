import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { NODE_HEIGHT, pathOf, type Layout } from "../lib/layout";
import { backwards, reachable, type Drawn, type TaskGraph } from "../lib/taskGraph";
import { useLayout } from "../lib/useLayout";
import { LoadingRows } from "./Loading";

/** Smaller than this, names cannot be read: the drawing opens at its beginning instead of as a whole. */
const READABLE = 0.55;

interface View {
  x: number;
  y: number;
  scale: number;
}

/** A layered drawing that can be moved, zoomed, searched and folded. */
export function GraphView({ label, graph, drawn, chosen, choose, toggle, search, classOf }: {
  label: string;
  graph: TaskGraph;
  drawn: Drawn;
  chosen?: string;
  choose: (task: string) => void;
  toggle: (group: string) => void;
  search: string;
  /** Further classes of a task or a folded group, by its members. */
  classOf?: (members: number[]) => string;
}) {
  const input = useMemo(() => ({ widths: drawn.nodes.map((node) => widthOf(titleOf(node))), edges: drawn.edges }), [drawn]);
  const done = useLayout(input);
  const box = useRef<SVGSVGElement>(null);
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
  const [hovered, setHovered] = useState<number>();
  const fitted = useRef("");
  const layout = done && done.layout.x.length === drawn.nodes.length ? done.layout : undefined;

  const isDrawn = layout !== undefined;
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const element = isDrawn ? box.current : null;
    if (!element) return undefined;
    const watcher = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [isDrawn]);

  const fit = useCallback(() => {
    const size = box.current?.getBoundingClientRect();
    if (!size || !layout) return;
    const scale = Math.max(0.12, Math.min(1.25, (size.width - 48) / layout.width, (size.height - 48) / layout.height));
    setView({ x: Math.max(24, (size.width - layout.width * scale) / 2), y: (size.height - layout.height * scale) / 2, scale });
  }, [layout]);
  const centre = useCallback(
    (place: number, scale?: number) => {
      const size = box.current?.getBoundingClientRect();
      if (!size || !layout) return;
      setView((now) => {
        const next = scale ?? Math.max(now.scale, 0.8);
        const x = (layout.x[place] ?? 0) + (input.widths[place] ?? 0) / 2;
        return { scale: next, x: size.width / 2 - x * next, y: size.height / 2 - (layout.y[place] ?? 0) * next };
      });
    },
    [layout, input],
  );

  const chosenPlace = drawn.nodes.findIndex((node) => node.members.some((at) => graph.tasks[at]?.id === chosen));
  useEffect(() => {
    if (!done || !layout || fitted.current === done.key) return;
    fitted.current = done.key;
    const size = box.current?.getBoundingClientRect();
    const isReadable = size && Math.min((size.width - 48) / layout.width, (size.height - 48) / layout.height) >= READABLE;
    if (isReadable) fit();
    else if (chosenPlace >= 0) centre(chosenPlace, 0.85);
    else if (size) setView({ scale: 0.85, x: 24, y: size.height / 2 - (layout.y[leftmost(layout)] ?? 0) * 0.85 });
  }, [done, layout, fit, centre, chosenPlace]);

  const words = search.trim().toLowerCase();
  const found = useMemo(() => {
    const hits = new Set<number>();
    if (words) {
      drawn.nodes.forEach((node, place) => {
        if (node.members.some((at) => graph.tasks[at]?.id.toLowerCase().includes(words))) hits.add(place);
      });
    }
    return hits;
  }, [drawn, graph, words]);
  const firstFound = found.values().next().value;
  useEffect(() => {
    if (firstFound !== undefined) centre(firstFound);
  }, [firstFound, centre]);

  const focus = hovered ?? (chosenPlace >= 0 ? chosenPlace : undefined);
  const lit = useMemo(() => {
    if (focus === undefined) return undefined;
    const n = drawn.nodes.length;
    return new Set([focus, ...reachable(n, drawn.edges, focus), ...reachable(n, backwards(drawn.edges), focus)]);
  }, [drawn, focus]);

  const zoom = useCallback((factor: number, at?: { x: number; y: number }) => {
    const size = box.current?.getBoundingClientRect();
    const middle = at ?? { x: (size?.width ?? 0) / 2, y: (size?.height ?? 0) / 2 };
    setView((now) => {
      const scale = Math.max(0.08, Math.min(2.5, now.scale * factor));
      const ratio = scale / now.scale;
      return { scale, x: middle.x - (middle.x - now.x) * ratio, y: middle.y - (middle.y - now.y) * ratio };
    });
  }, []);
  useEffect(() => {
    const element = isDrawn ? box.current : null;
    if (!element) return undefined;
    const onWheel = (event: WheelEvent) => {
      event.preventDefault();
      const size = element.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY / 400), { x: event.clientX - size.left, y: event.clientY - size.top });
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, [zoom, isDrawn]);

  if (!layout) return <LoadingRows rows={8} />;
  const open = (place: number) => {
    const node = drawn.nodes[place];
    if (node?.group) toggle(node.group);
    else if (node) choose(node.id);
  };
  return (
    <div className="graphview" data-layout-ms={Math.round(done?.ms ?? 0)}>
      <svg ref={box} className="canvas" role="group" aria-label={label} {...dragging(setView)}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto-start-reverse">
            <path d="M0 0L8 4L0 8z" fill="var(--line-strong)" />
          </marker>
        </defs>
        <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
          <Edges layout={layout} lit={lit} />
          {drawn.nodes.map((node, place) => {
            const isDim = (lit && !lit.has(place)) || (words !== "" && !found.has(place));
            const task = node.task === undefined ? undefined : graph.tasks[node.task];
            const kind = node.group ? "group" : task?.type === "stage" ? "stage" : "";
            const classes = `node ${kind} from-${task?.layer ?? "none"} ${classOf?.(node.members) ?? ""}${isDim ? " dim" : ""}${place === chosenPlace ? " chosen" : ""}${found.has(place) ? " found" : ""}`;
            const width = input.widths[place] ?? 0;
            return (
              <g
                key={node.id}
                className={classes}
                transform={`translate(${layout.x[place]} ${(layout.y[place] ?? 0) - NODE_HEIGHT / 2})`}
                role="button"
                tabIndex={0}
                aria-label={node.group ? `${node.label}: ${node.members.length} tasks, folded. Unfold` : `Task ${node.label}`}
                onClick={() => open(place)}
                onKeyDown={(event: KeyboardEvent) => {
                  if (event.key === "Enter" || event.key === " ") {
                    event.preventDefault();
                    open(place);
                  }
                }}
                onPointerEnter={() => setHovered(place)}
                onPointerLeave={() => setHovered(undefined)}
              >
                <title>{node.label}</title>
                <rect width={width} height={NODE_HEIGHT} rx={5} />
                <text x={10} y={18}>
                  {titleOf(node)}
                </text>
              </g>
            );
          })}
        </g>
      </svg>
      <div className="zoom">
        <button type="button" className="button small" aria-label="Zoom in" onClick={() => zoom(1.3)}>
          +
        </button>
        <button type="button" className="button small" aria-label="Zoom out" onClick={() => zoom(1 / 1.3)}>
          −
        </button>
        <button type="button" className="button small" onClick={fit}>
          Fit
        </button>
      </div>
      <Minimap layout={layout} widths={input.widths} view={view} box={size} go={setView} />
    </div>
  );
}

function leftmost(layout: Layout): number {
  return layout.x.reduce((best, x, place) => (x < (layout.x[best] ?? 0) ? place : best), 0);
}

function titleOf(node: Drawn["nodes"][number]): string {
  return node.group ? `▸ ${node.label} (${node.members.length})` : node.label.length > 28 ? `${node.label.slice(0, 27)}…` : node.label;
}

function widthOf(title: string): number {
  return 24 + title.length * 7.1;
}

function Edges({ layout, lit }: { layout: Layout; lit?: Set<number> }) {
  return (
    <g aria-hidden="true">
      {layout.edges.map((edge) => {
        const isLit = lit?.has(edge.from) === true && lit.has(edge.to);
        const classes = lit ? (isLit ? "edge lit" : "edge dim") : "edge";
        return <path key={`${edge.from}-${edge.to}`} className={classes} d={pathOf(edge.points)} markerEnd="url(#arrow)" />;
      })}
    </g>
  );
}

/** Moves the drawing with the pointer; a click stays a click. */
function dragging(setView: (change: (now: View) => View) => void) {
  let last: { x: number; y: number } | undefined;
  return {
    onPointerDown: (event: PointerEvent) => {
      if ((event.target as Element).closest(".node")) return;
      last = { x: event.clientX, y: event.clientY };
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
    },
    onPointerMove: (event: PointerEvent) => {
      if (!last || event.buttons === 0) return;
      const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
      last = { x: event.clientX, y: event.clientY };
      setView((now) => ({ ...now, x: now.x + dx, y: now.y + dy }));
    },
  };
}

const MAP = { width: 180, height: 110 };

function Minimap({ layout, widths, view, box, go }: {
  layout: Layout;
  widths: number[];
  view: View;
  box: { width: number; height: number };
  go: (change: (now: View) => View) => void;
}) {
  const scale = Math.min(MAP.width / (layout.width + 40), MAP.height / (layout.height + 40));
  const top = (MAP.height / scale - layout.height) / 2;
  const onClick = (event: React.MouseEvent) => {
    const at = (event.currentTarget as Element).getBoundingClientRect();
    const [x, y] = [(event.clientX - at.left) / scale - 20, (event.clientY - at.top) / scale - top];
    go((now) => ({ ...now, x: box.width / 2 - x * now.scale, y: box.height / 2 - y * now.scale }));
  };
  return (
    <svg className="minimap" aria-hidden="true" onClick={onClick}>
      <g transform={`scale(${scale}) translate(20 ${top})`}>
        {layout.x.map((x, place) => (
          <rect key={place} x={x} y={(layout.y[place] ?? 0) - NODE_HEIGHT / 2} width={widths[place]} height={NODE_HEIGHT} />
        ))}
        <rect className="view" strokeWidth={2 / scale} x={-view.x / view.scale} y={-view.y / view.scale} width={box.width / view.scale} height={box.height / view.scale} />
      </g>
    </svg>
  );
}
