import { useEffect, useRef, useState } from "react";
import { chartOf, ticks, type Bar, type HistoryRow } from "../lib/gantt";
import { duration } from "../lib/format";
import { EmptyState } from "./PageHead";

/** Width of the column of node names, in pixels. */
const NAMES = 130;
/** Number of characters that fit into that column. */
const NAME_MAX = 18;
const LINE = 16;
const HEAD = 24;

/** Timeline of task instances with one lane per node. */
export function Gantt({ rows, now, nameOf, selected, select }: {
  rows: HistoryRow[];
  /** End time of bars whose task is still running. */
  now: number;
  nameOf: (node: string) => string;
  selected?: { task: string; node: string };
  select: (bar: Bar) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(1000);
  const [zoom, setZoom] = useState(1);
  const chart = chartOf(rows, now);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const span = chart.end - chart.start;
  const inner = Math.max(200, (width - NAMES - 24) * zoom);
  const x = (time: number) => NAMES + ((time - chart.start) / span) * inner;
  const tops = chart.lanes.reduce((edges, lane) => [...edges, (edges.at(-1) ?? HEAD) + lane.nLines * LINE + 4], [HEAD]);
  const top = tops.at(-1) ?? HEAD;
  const lanes = chart.lanes.map((lane, index) => ({ lane, top: tops[index] ?? HEAD }));
  return (
    <div className="stack tight grow" style={{ display: "flex", minHeight: 0, flexDirection: "column" }}>
      <div className="toolbar">
        <label htmlFor="gantt-zoom">Zoom</label>
        <input id="gantt-zoom" type="range" min={1} max={20} step={0.5} value={zoom} onChange={(event) => setZoom(Number(event.target.value))} />
        <span className="muted">{duration(span)} total</span>
      </div>
      <div className="gantt" ref={box} role="figure" aria-label="Timeline by node" tabIndex={0}>
        {chart.lanes.length === 0 ? (
          <EmptyState title="No task has started yet">Bars appear here when tasks start.</EmptyState>
        ) : (
          <svg width={NAMES + inner + 16} height={top + 8} role="presentation">
            {ticks(span, Math.max(4, inner / 110)).map((tick) => (
              <g key={tick}>
                <line className="tick" x1={x(chart.start + tick)} x2={x(chart.start + tick)} y1={HEAD - 6} y2={top} />
                <text x={x(chart.start + tick) + 3} y={14}>
                  {tick === 0 ? "0" : duration(tick)}
                </text>
              </g>
            ))}
            {lanes.map(({ lane, top: laneTop }) => (
              <g key={lane.node}>
                <text x={8} y={laneTop + LINE - 4}>
                  {nameOf(lane.node).length > NAME_MAX && <title>{nameOf(lane.node)}</title>}
                  {nameOf(lane.node).slice(0, NAME_MAX)}
                </text>
                {lane.bars.map((bar) => {
                  const isSelected = selected?.task === bar.task && selected.node === bar.node;
                  const barWidth = Math.max(2, x(bar.end) - x(bar.start) - 1);
                  return (
                    <g key={bar.task}>
                    <rect
                      className={`bar bar-${bar.status}`}
                      x={x(bar.start)}
                      y={laneTop + bar.line * LINE + 1}
                      width={barWidth}
                      height={LINE - 3}
                      rx={2}
                      stroke={isSelected ? "var(--text)" : "none"}
                      strokeWidth={2}
                      onClick={() => select(bar)}
                    >
                      <title>{`${bar.task} on ${nameOf(bar.node)}: ${bar.status}, ${duration(bar.end - bar.start)}`}</title>
                    </rect>
                      {barWidth > bar.task.length * 6.4 + 8 && (
                        <text className="inbar" x={x(bar.start) + 5} y={laneTop + bar.line * LINE + 12} aria-hidden="true">
                          {bar.task}
                        </text>
                      )}
                    </g>
                  );
                })}
              </g>
            ))}
          </svg>
        )}
      </div>
    </div>
  );
}
