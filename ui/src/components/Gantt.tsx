import { useEffect, useRef, useState } from "react";
import { chartOf, ticks, type Bar, type HistoryRow } from "../lib/gantt";
import { duration } from "../lib/format";
import { Empty } from "./PageHead";

const NAMES = 130;
/** Letters that fit beside a lane. */
const NAME_LONGEST = 18;
const LINE = 16;
const HEAD = 24;

/** When each task ran on each node. */
export function Gantt({ rows, now, nameOf, chosen, choose }: {
  rows: HistoryRow[];
  /** What is still running ends here. */
  now: number;
  nameOf: (node: string) => string;
  chosen?: { task: string; node: string };
  choose: (bar: Bar) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(1000);
  const [zoom, setZoom] = useState(1);
  const chart = chartOf(rows, now);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const watcher = new ResizeObserver(() => setWidth(element.clientWidth));
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  const span = chart.end - chart.start;
  const inner = Math.max(200, (width - NAMES - 24) * zoom);
  const x = (time: number) => NAMES + ((time - chart.start) / span) * inner;
  const tops = chart.lanes.reduce((all, lane) => [...all, (all.at(-1) ?? HEAD) + lane.nLines * LINE + 4], [HEAD]);
  const top = tops.at(-1) ?? HEAD;
  const placed = chart.lanes.map((lane, place) => ({ lane, top: tops[place] ?? HEAD }));
  return (
    <div className="stack tight grow" style={{ display: "flex", minHeight: 0, flexDirection: "column" }}>
      <div className="toolbar">
        <label htmlFor="gantt-zoom">Zoom</label>
        <input id="gantt-zoom" type="range" min={1} max={20} step={0.5} value={zoom} onChange={(event) => setZoom(Number(event.target.value))} />
        <span className="muted">{duration(span)} in all</span>
      </div>
      <div className="gantt" ref={box} role="figure" aria-label="Timeline, a line for each node" tabIndex={0}>
        {chart.lanes.length === 0 ? (
          <Empty title="Nothing has started yet" />
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
            {placed.map(({ lane, top: at }) => (
              <g key={lane.node}>
                <text x={8} y={at + LINE - 4}>
                  {nameOf(lane.node).length > NAME_LONGEST && <title>{nameOf(lane.node)}</title>}
                  {nameOf(lane.node).slice(0, NAME_LONGEST)}
                </text>
                {lane.bars.map((bar) => {
                  const isChosen = chosen?.task === bar.task && chosen.node === bar.node;
                  const long = Math.max(2, x(bar.end) - x(bar.start) - 1);
                  return (
                    <g key={bar.task}>
                    <rect
                      className={`bar bar-${bar.status}`}
                      x={x(bar.start)}
                      y={at + bar.line * LINE + 1}
                      width={long}
                      height={LINE - 3}
                      rx={2}
                      stroke={isChosen ? "var(--text)" : "none"}
                      strokeWidth={2}
                      onClick={() => choose(bar)}
                    >
                      <title>{`${bar.task} on ${nameOf(bar.node)}: ${bar.status}, ${duration(bar.end - bar.start)}`}</title>
                    </rect>
                      {long > bar.task.length * 6.4 + 8 && (
                        <text className="inbar" x={x(bar.start) + 5} y={at + bar.line * LINE + 12} aria-hidden="true">
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
