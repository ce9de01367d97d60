import { useQueries } from "@tanstack/react-query";
import { memo, useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import type { Schemas } from "../api/client";
import { calledOf } from "../lib/nodeNames";
import { SIGNS, statusOfLetter } from "../lib/status";
import { inChunks, tilesOf, visible, type Extent } from "../lib/tiles";
import { Problem } from "./Problem";
import { LoadingRows } from "./Loading";
import { Empty } from "./PageHead";

export type MatrixData = Schemas["Matrix"];
export interface Window {
  task_offset: number;
  task_limit: number;
  node_offset: number;
  node_limit: number;
}
export interface Chosen {
  task: string;
  node: string;
}

const TASKS = 100;
const NODES = 200;
const ROW = 24;
const COLUMN = 26;
const NAMES = 250;
const HEADS = 100;
/** Squares of a row that are drawn together: scrolling adds and removes chunks and leaves the others alone. */
const CHUNK = 16;

/** Tasks by nodes. Only what is on screen is fetched and drawn. */
export function Matrix({ label, queryKey, load, chosen, choose, words }: {
  label: string;
  queryKey: unknown[];
  load: (window: Window) => Promise<MatrixData>;
  chosen?: Chosen;
  choose: (cell: Chosen) => void;
  /** What a state is called here, where that is not its name. */
  words?: Partial<Record<string, string>>;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ x: 0, y: 0, width: 1200, height: 600 });
  const [size, setSize] = useState({ nTasks: 0, nNodes: 0 });
  const rows = visible(view.y, view.height - HEADS, ROW, size.nTasks);
  const columns = inChunks(visible(view.x, view.width - NAMES, COLUMN, size.nNodes), CHUNK, size.nNodes);
  const taskTiles = tilesOf(rows, TASKS);
  const nodeTiles = tilesOf(columns, NODES);
  const wanted = taskTiles.flatMap((task) => nodeTiles.map((node) => ({ task, node })));
  const tiles = useQueries({
    queries: wanted.map(({ task, node }) => ({
      queryKey: [...queryKey, "tile", task, node],
      queryFn: () => load({ task_offset: task * TASKS, task_limit: TASKS, node_offset: node * NODES, node_limit: NODES }),
      staleTime: 60_000,
    })),
  });
  const grid = useMemo(() => {
    const found = new Grid();
    tiles.forEach((tile, place) => {
      const at = wanted[place];
      if (tile.data && at) found.add(tile.data, at.task * TASKS, at.node * NODES);
    });
    return found;
    // Tiles are compared by what they hold; the list itself is new each time.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [tiles.map((tile) => tile.dataUpdatedAt).join(), wanted.map((one) => `${one.task}.${one.node}`).join()]);

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
    const watcher = new ResizeObserver(measure);
    watcher.observe(element);
    return () => {
      element.removeEventListener("scroll", measure);
      watcher.disconnect();
      cancelAnimationFrame(frame);
    };
  }, [hasData]);

  const failed = tiles.find((tile) => tile.isError);
  const isKnown = size.nTasks > 0 && size.nNodes > 0;
  // What is on its way leaves the matrix where it is; without it the page would jump back to its beginning.
  if (!first && failed && !isKnown) return <Problem error={failed.error} retry={() => void failed.refetch()} />;
  if (!first && !isKnown) return <LoadingRows rows={8} />;
  if (first && (first.n_tasks === 0 || first.n_nodes === 0)) return <Empty title="Nothing to show">Change the search or the filter above.</Empty>;

  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step || !chosen) return;
    const task = grid.tasks.get((grid.rowOf(chosen.task) ?? 0) + (step[0] ?? 0));
    const node = grid.nodes.get((grid.columnOf(chosen.node) ?? 0) + (step[1] ?? 0));
    if (task === undefined || node === undefined) return;
    event.preventDefault();
    choose({ task, node });
  };
  return (
    <div className="matrix" ref={box} role="grid" aria-label={label} aria-rowcount={size.nTasks + 1} aria-colcount={size.nNodes + 1} tabIndex={0} onKeyDown={onKeyDown}>
      <div style={{ width: NAMES + size.nNodes * COLUMN, minWidth: "100%", height: HEADS + size.nTasks * ROW, position: "relative" }}>
        <div className="heads" role="row" style={{ height: HEADS }}>
          <div className="cornername" role="columnheader" style={{ width: NAMES, height: HEADS }}>
            {size.nTasks} tasks × {size.nNodes} nodes
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
            chosenNode={chosen && chosen.task === grid.tasks.get(row) ? chosen.node : undefined}
            choose={choose}
            words={words}
          />
        ))}
      </div>
    </div>
  );
}

interface Shared {
  nodes: Map<number, string>;
  names: Map<number, string>;
  choose: (cell: Chosen) => void;
  words?: Partial<Record<string, string>>;
}

const Row = memo(function Row({ top, task, cells, firstColumn, chosenNode, ...shared }: Shared & {
  top: number;
  task: string;
  cells: string;
  firstColumn: number;
  chosenNode?: string;
}) {
  const chunks = range({ first: 0, end: Math.ceil(cells.length / CHUNK) });
  return (
    <div role="row" style={{ position: "absolute", top, left: 0, right: 0, height: ROW }}>
      <div className="rowname" role="rowheader" style={{ width: NAMES, height: ROW }} title={task}>
        <span className="ellipsis">{task}</span>
      </div>
      {chunks.map((chunk) => {
        const first = firstColumn + chunk * CHUNK;
        const part = cells.slice(chunk * CHUNK, (chunk + 1) * CHUNK);
        const hasChosen = chosenNode !== undefined && [...part].some((_, place) => shared.nodes.get(first + place) === chosenNode);
        return <Squares key={first} task={task} cells={part} first={first} chosenNode={hasChosen ? chosenNode : undefined} {...shared} />;
      })}
    </div>
  );
});

const Squares = memo(function Squares({ task, cells, first, chosenNode, nodes, names, choose, words }: Shared & {
  task: string;
  cells: string;
  first: number;
  chosenNode?: string;
}) {
  return [...cells].map((letter, place) => {
    const status = statusOfLetter(letter);
    const node = nodes.get(first + place);
    if (!status || node === undefined) return null;
    const label = `${task} on ${names.get(first + place) ?? node}: ${words?.[status] ?? status}`;
    return (
      <button
        key={node}
        type="button"
        role="gridcell"
        tabIndex={-1}
        className={`cell status-${status}${chosenNode === node ? " chosen" : ""}`}
        style={{ left: NAMES + (first + place) * COLUMN + 2, top: 2, width: COLUMN - 4, height: ROW - 4 }}
        aria-label={label}
        title={label}
        onClick={() => choose({ task, node })}
      >
        {SIGNS[status]}
      </button>
    );
  });
});

/** Tiles put together. */
class Grid {
  readonly tasks = new Map<number, string>();
  readonly nodes = new Map<number, string>();
  readonly names = new Map<number, string>();
  private readonly cells = new Map<number, Map<number, string>>();

  add(tile: MatrixData, firstTask: number, firstNode: number): void {
    tile.nodes.forEach((node, column) => {
      this.nodes.set(firstNode + column, node);
      this.names.set(firstNode + column, calledOf(node, tile.names[column]));
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
    return find(this.tasks, task);
  }

  columnOf(node: string): number | undefined {
    return find(this.nodes, node);
  }
}

function find(map: Map<number, string>, value: string): number | undefined {
  for (const [key, one] of map) if (one === value) return key;
  return undefined;
}

function range({ first, end }: Extent): number[] {
  return Array.from({ length: end - first }, (_, step) => first + step);
}
