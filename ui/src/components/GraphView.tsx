import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";
import { NODE_HEIGHT, pathOf, type Layout } from "../lib/layout";
import { reverseEdges, reachable, type DrawnGraph, type TaskGraph } from "../lib/taskGraph";
import { useLayout } from "../lib/useLayout";
import { LoadingRows } from "./Loading";

/**
 * Minimum scale at which task names are legible. A graph that only fits at a smaller scale opens at its
 * start.
 */
const LEGIBLE_SCALE = 0.55;

interface View {
  x: number;
  y: number;
  scale: number;
}

/** Layered graph with pan, zoom, search and collapsible groups. */
export function GraphView({ label, graph, drawing, selected, select, toggle, search, classOf }: {
  label: string;
  graph: TaskGraph;
  drawing: DrawnGraph;
  selected?: string;
  select: (task: string) => void;
  toggle: (group: string) => void;
  search: string;
  /** Additional CSS classes of a task or a collapsed group, by the indexes of its tasks. */
  classOf?: (members: number[]) => string;
}) {
  const input = useMemo(() => ({ widths: drawing.nodes.map((node) => widthOf(titleOf(node))), edges: drawing.edges }), [drawing]);
  const computed = useLayout(input);
  const box = useRef<SVGSVGElement>(null);
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
  const [hovered, setHovered] = useState<number>();
  const fitted = useRef("");
  const layout = computed && computed.layout.x.length === drawing.nodes.length ? computed.layout : undefined;

  const isDrawn = layout !== undefined;
  const [size, setSize] = useState({ width: 0, height: 0 });
  useEffect(() => {
    const element = isDrawn ? box.current : null;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setSize({ width: element.clientWidth, height: element.clientHeight }));
    observer.observe(element);
    return () => observer.disconnect();
  }, [isDrawn]);

  const fit = useCallback(() => {
    const size = box.current?.getBoundingClientRect();
    if (!size || !layout) return;
    const scale = Math.max(0.12, Math.min(1.25, (size.width - 48) / layout.width, (size.height - 48) / layout.height));
    setView({ x: Math.max(24, (size.width - layout.width * scale) / 2), y: (size.height - layout.height * scale) / 2, scale });
  }, [layout]);
  const centre = useCallback(
    (index: number, scale?: number) => {
      const size = box.current?.getBoundingClientRect();
      if (!size || !layout) return;
      setView((previous) => {
        const next = scale ?? Math.max(previous.scale, 0.8);
        const x = (layout.x[index] ?? 0) + (input.widths[index] ?? 0) / 2;
        return { scale: next, x: size.width / 2 - x * next, y: size.height / 2 - (layout.y[index] ?? 0) * next };
      });
    },
    [layout, input],
  );

  const selectedIndex = drawing.nodes.findIndex((node) => node.members.some((at) => graph.tasks[at]?.id === selected));
  useEffect(() => {
    if (!computed || !layout || fitted.current === computed.key) return;
    fitted.current = computed.key;
    const size = box.current?.getBoundingClientRect();
    const isLegible = size && Math.min((size.width - 48) / layout.width, (size.height - 48) / layout.height) >= LEGIBLE_SCALE;
    if (isLegible) fit();
    else if (selectedIndex >= 0) centre(selectedIndex, 0.85);
    else if (size) setView({ scale: 0.85, x: 24, y: size.height / 2 - (layout.y[leftmost(layout)] ?? 0) * 0.85 });
  }, [computed, layout, fit, centre, selectedIndex]);

  const searchText = search.trim().toLowerCase();
  const matches = useMemo(() => {
    const indexes = new Set<number>();
    if (searchText) {
      drawing.nodes.forEach((node, index) => {
        if (node.members.some((at) => graph.tasks[at]?.id.toLowerCase().includes(searchText))) indexes.add(index);
      });
    }
    return indexes;
  }, [drawing, graph, searchText]);
  const firstMatch = matches.values().next().value;
  useEffect(() => {
    if (firstMatch !== undefined) centre(firstMatch);
  }, [firstMatch, centre]);

  const focus = hovered ?? (selectedIndex >= 0 ? selectedIndex : undefined);
  const connected = useMemo(() => {
    if (focus === undefined) return undefined;
    const n = drawing.nodes.length;
    return new Set([focus, ...reachable(n, drawing.edges, focus), ...reachable(n, reverseEdges(drawing.edges), focus)]);
  }, [drawing, focus]);

  const zoom = useCallback((factor: number, at?: { x: number; y: number }) => {
    const size = box.current?.getBoundingClientRect();
    const origin = at ?? { x: (size?.width ?? 0) / 2, y: (size?.height ?? 0) / 2 };
    setView((previous) => {
      const scale = Math.max(0.08, Math.min(2.5, previous.scale * factor));
      const ratio = scale / previous.scale;
      return { scale, x: origin.x - (origin.x - previous.x) * ratio, y: origin.y - (origin.y - previous.y) * ratio };
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
  const open = (index: number) => {
    const node = drawing.nodes[index];
    if (node?.group) toggle(node.group);
    else if (node) select(node.id);
  };
  return (
    <div className="graphview" data-layout-ms={Math.round(computed?.ms ?? 0)}>
      <svg ref={box} className="canvas" role="group" aria-label={label} {...dragging(setView)}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto-start-reverse">
            <path d="M0 0L8 4L0 8z" fill="var(--line-strong)" />
          </marker>
        </defs>
        <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
          <Edges layout={layout} connected={connected} />
          {drawing.nodes.map((node, index) => {
            const isDim = (connected && !connected.has(index)) || (searchText !== "" && !matches.has(index));
            const task = node.task === undefined ? undefined : graph.tasks[node.task];
            const kind = node.group ? "group" : task?.type === "stage" ? "stage" : "";
            const classes = `node ${kind} from-${task?.layer ?? "none"} ${classOf?.(node.members) ?? ""}${isDim ? " dim" : ""}${index === selectedIndex ? " selected" : ""}${matches.has(index) ? " match" : ""}`;
            const width = input.widths[index] ?? 0;
            return (
              <g
                key={node.id}
                className={classes}
                transform={`translate(${layout.x[index]} ${(layout.y[index] ?? 0) - NODE_HEIGHT / 2})`}
                role="button"
                tabIndex={0}
                aria-label={node.group ? `Group ${node.label}, ${node.members.length} tasks, collapsed` : `Task ${node.label}`}
                onClick={() => open(index)}
                onKeyDown={(event: KeyboardEvent) => {
                  if (event.key === "Enter" || event.key === " ") {
                    event.preventDefault();
                    open(index);
                  }
                }}
                onPointerEnter={() => setHovered(index)}
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
  return layout.x.reduce((best, x, index) => (x < (layout.x[best] ?? 0) ? index : best), 0);
}

function titleOf(node: DrawnGraph["nodes"][number]): string {
  return node.group ? `▸ ${node.label} (${node.members.length})` : node.label.length > 28 ? `${node.label.slice(0, 27)}…` : node.label;
}

function widthOf(title: string): number {
  return 24 + title.length * 7.1;
}

function Edges({ layout, connected }: { layout: Layout; connected?: Set<number> }) {
  return (
    <g aria-hidden="true">
      {layout.edges.map((edge) => {
        const isConnected = connected?.has(edge.from) === true && connected.has(edge.to);
        const classes = connected ? (isConnected ? "edge connected" : "edge dim") : "edge";
        return <path key={`${edge.from}-${edge.to}`} className={classes} d={pathOf(edge.points)} markerEnd="url(#arrow)" />;
      })}
    </g>
  );
}

/** Pans the graph with the pointer. A pointer that goes down on a node selects it instead. */
function dragging(setView: (change: (previous: View) => View) => void) {
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
      setView((previous) => ({ ...previous, x: previous.x + dx, y: previous.y + dy }));
    },
  };
}

const MAP = { width: 180, height: 110 };

function Minimap({ layout, widths, view, box, go }: {
  layout: Layout;
  widths: number[];
  view: View;
  box: { width: number; height: number };
  go: (change: (previous: View) => View) => void;
}) {
  const scale = Math.min(MAP.width / (layout.width + 40), MAP.height / (layout.height + 40));
  const top = (MAP.height / scale - layout.height) / 2;
  const onClick = (event: React.MouseEvent) => {
    const bounds = (event.currentTarget as Element).getBoundingClientRect();
    const [x, y] = [(event.clientX - bounds.left) / scale - 20, (event.clientY - bounds.top) / scale - top];
    go((previous) => ({ ...previous, x: box.width / 2 - x * previous.scale, y: box.height / 2 - y * previous.scale }));
  };
  return (
    <svg className="minimap" aria-hidden="true" onClick={onClick}>
      <g transform={`scale(${scale}) translate(20 ${top})`}>
        {layout.x.map((x, index) => (
          <rect key={index} x={x} y={(layout.y[index] ?? 0) - NODE_HEIGHT / 2} width={widths[index]} height={NODE_HEIGHT} />
        ))}
        <rect className="view" strokeWidth={2 / scale} x={-view.x / view.scale} y={-view.y / view.scale} width={box.width / view.scale} height={box.height / view.scale} />
      </g>
    </svg>
  );
}
