import { useQueries } from "@tanstack/react-query";
import { memo, useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import type { Schemas } from "../api/client";
import { count } from "../lib/format";
import { displayName } from "../lib/nodeNames";
import { SYMBOLS, statusOfLetter } from "../lib/status";
import { alignToChunks, tilesOf, visibleRange, type Extent } from "../lib/tiles";
import { Problem } from "./Problem";
import { LoadingRows } from "./Loading";
import { EmptyState } from "./PageHead";

export type MatrixData = Schemas["Matrix"];
export interface Window {
  task_offset: number;
  task_limit: number;
  node_offset: number;
  node_limit: number;
}
export interface Cell {
  task: string;
  node: string;
}

/** Tasks and nodes per tile, which is the unit of fetching. */
const TASKS = 100;
const NODES = 200;
/** Sizes in pixels: a row, a column, the column of task names and the row of node names. */
const ROW = 24;
const COLUMN = 26;
const NAMES = 250;
const HEADS = 100;
/**
 * Cells of a row that are rendered as one component: scrolling mounts and unmounts chunks and does not
 * rerender others.
 */
const CHUNK = 16;

/** Virtualized matrix of tasks by nodes: only visible tiles are fetched and rendered. */
export function Matrix({ label, queryKey, load, selected, select, labels }: {
  label: string;
  queryKey: unknown[];
  load: (window: Window) => Promise<MatrixData>;
  selected?: Cell;
  select: (cell: Cell) => void;
  /** Labels of statuses that are not shown by their name. */
  labels?: Partial<Record<string, string>>;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ x: 0, y: 0, width: 1200, height: 600 });
  const [size, setSize] = useState({ nTasks: 0, nNodes: 0 });
  const rows = visibleRange(view.y, view.height - HEADS, ROW, size.nTasks);
  const columns = alignToChunks(visibleRange(view.x, view.width - NAMES, COLUMN, size.nNodes), CHUNK, size.nNodes);
  const taskTiles = tilesOf(rows, TASKS);
  const nodeTiles = tilesOf(columns, NODES);
  const tileKeys = taskTiles.flatMap((task) => nodeTiles.map((node) => ({ task, node })));
  const tiles = useQueries({
    queries: tileKeys.map(({ task, node }) => ({
      queryKey: [...queryKey, "tile", task, node],
      queryFn: () => load({ task_offset: task * TASKS, task_limit: TASKS, node_offset: node * NODES, node_limit: NODES }),
      staleTime: 60_000,
    })),
  });
  const grid = useMemo(() => {
    const merged = new Grid();
    tiles.forEach((tile, index) => {
      const key = tileKeys[index];
      if (tile.data && key) merged.add(tile.data, key.task * TASKS, key.node * NODES);
    });
    return merged;
    // Compares tiles by content: `useQueries` returns a new array for each render.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [tiles.map((tile) => tile.dataUpdatedAt).join(), tileKeys.map((key) => `${key.task}.${key.node}`).join()]);

  const first = tiles.find((tile) => tile.data)?.data;
  const hasData = first !== undefined || size.nTasks > 0;
  useEffect(() => {
    if (first) setSize({ nTasks: first.n_tasks, nNodes: first.n_nodes });
  }, [first]);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    let frame = 0;
    const measure = () => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() =>
        setView({ x: element.scrollLeft, y: element.scrollTop, width: element.clientWidth, height: element.clientHeight }),
      );
    };
    measure();
    element.addEventListener("scroll", measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", measure);
      observer.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [hasData]);

  const failed = tiles.find((tile) => tile.isError);
  const hasSize = size.nTasks > 0 && size.nNodes > 0;
  // Keeps the matrix mounted while tiles load; otherwise its scroll position would be lost.
  if (!first && failed && !hasSize) return <Problem error={failed.error} retry={() => void failed.refetch()} />;
  if (!first && !hasSize) return <LoadingRows rows={8} />;
  if (first && (first.n_tasks === 0 || first.n_nodes === 0)) return <EmptyState title="No matching task instances">Change the search or the filter above.</EmptyState>;

  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !selected) return;
    const task = grid.tasks.get((grid.rowOf(selected.task) ?? 0) + (step[0] ?? 0));
    const node = grid.nodes.get((grid.columnOf(selected.node) ?? 0) + (step[1] ?? 0));
    if (task === undefined || node === undefined) return;
    event.preventDefault();
    select({ task, node });
  };
  return (
    <div className="matrix" ref={box} role="grid" aria-label={label} aria-rowcount={size.nTasks + 1} aria-colcount={size.nNodes + 1} tabIndex={0} onKeyDown={onKeyDown}>
      <div style={{ width: NAMES + size.nNodes * COLUMN, minWidth: "100%", height: HEADS + size.nTasks * ROW, position: "relative" }}>
        <div className="heads" role="row" style={{ height: HEADS }}>
          <div className="cornername" role="columnheader" style={{ width: NAMES, height: HEADS }}>
            {count(size.nTasks, "task")} × {count(size.nNodes, "node")}
          </div>
          {range(columns).map((column) => {
            const name = grid.names.get(column);
            return (
              <div key={column} className="head" role="columnheader" title={name} style={{ left: NAMES + column * COLUMN, top: 0, width: COLUMN, height: HEADS }}>
                {name}
              </div>
            );
          })}
        </div>
        {range(rows).map((row) => (
          <Row
            key={row}
            top={HEADS + row * ROW}
            task={grid.tasks.get(row) ?? ""}
            cells={range(columns).map((column) => grid.cell(row, column)).join("")}
            firstColumn={columns.first}
            nodes={grid.nodes}
            names={grid.names}
            selectedNode={selected && selected.task === grid.tasks.get(row) ? selected.node : undefined}
            select={select}
            labels={labels}
          />
        ))}
      </div>
    </div>
  );
}

interface Shared {
  nodes: Map<number, string>;
  names: Map<number, string>;
  select: (cell: Cell) => void;
  labels?: Partial<Record<string, string>>;
}

const Row = memo(function Row({ top, task, cells, firstColumn, selectedNode, ...shared }: Shared & {
  top: number;
  task: string;
  cells: string;
  firstColumn: number;
  selectedNode?: string;
}) {
  const chunks = range({ first: 0, end: Math.ceil(cells.length / CHUNK) });
  return (
    <div role="row" style={{ position: "absolute", top, left: 0, right: 0, height: ROW }}>
      <div className="rowname" role="rowheader" style={{ width: NAMES, height: ROW }} title={task}>
        <span className="ellipsis">{task}</span>
      </div>
      {chunks.map((chunk) => {
        const first = firstColumn + chunk * CHUNK;
        const chunkCells = cells.slice(chunk * CHUNK, (chunk + 1) * CHUNK);
        const hasSelected = selectedNode !== undefined && [...chunkCells].some((_, index) => shared.nodes.get(first + index) === selectedNode);
        return <CellChunk key={first} task={task} cells={chunkCells} first={first} selectedNode={hasSelected ? selectedNode : undefined} {...shared} />;
      })}
    </div>
  );
});

const CellChunk = memo(function CellChunk({ task, cells, first, selectedNode, nodes, names, select, labels }: Shared & {
  task: string;
  cells: string;
  first: number;
  selectedNode?: string;
}) {
  return [...cells].map((letter, index) => {
    const status = statusOfLetter(letter);
    const node = nodes.get(first + index);
    if (!status || node === undefined) return null;
    const label = `${task} on ${names.get(first + index) ?? node}: ${labels?.[status] ?? status}`;
    return (
      <button
        key={node}
        type="button"
        role="gridcell"
        tabIndex={-1}
        className={`cell status-${status}${selectedNode === node ? " selected" : ""}`}
        style={{ left: NAMES + (first + index) * COLUMN + 2, top: 2, width: COLUMN - 4, height: ROW - 4 }}
        aria-label={label}
        title={label}
        onClick={() => select({ task, node })}
      >
        {SYMBOLS[status]}
      </button>
    );
  });
});

/** Sparse matrix assembled from tiles. */
class Grid {
  readonly tasks = new Map<number, string>();
  readonly nodes = new Map<number, string>();
  readonly names = new Map<number, string>();
  private readonly cells = new Map<number, Map<number, string>>();

  add(tile: MatrixData, firstTask: number, firstNode: number): void {
    tile.nodes.forEach((node, column) => {
      this.nodes.set(firstNode + column, node);
      this.names.set(firstNode + column, displayName(node, tile.names[column]));
    });
    tile.tasks.forEach((task, row) => {
      this.tasks.set(firstTask + row, task);
      const line = this.cells.get(firstTask + row) ?? new Map<number, string>();
      this.cells.set(firstTask + row, line);
      line.set(firstNode, tile.cells[row] ?? "");
    });
  }

  cell(row: number, column: number): string {
    const start = column - (column % NODES);
    return this.cells.get(row)?.get(start)?.[column - start] ?? ".";
  }

  rowOf(task: string): number | undefined {
    return keyOf(this.tasks, task);
  }

  columnOf(node: string): number | undefined {
    return keyOf(this.nodes, node);
  }
}

function keyOf(map: Map<number, string>, value: string): number | undefined {
  for (const [key, candidate] of map) if (candidate === value) return key;
  return undefined;
}

function range({ first, end }: Extent): number[] {
  return Array.from({ length: end - first }, (_, step) => first + step);
}
