import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api, data } from "../api/client";
import { count } from "../lib/format";
import { linesOf } from "../lib/log";
import { LoadingRows } from "./Loading";
import { Problem } from "./Problem";

const POLL_INTERVAL_MS = 1500;

/** Output of a task instance. Polled and scrolled to its end while the task runs. */
export function Log({ runId, task, node, isLive }: { runId: number; task: string; node: string; isLive: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const [search, setSearch] = useState("");
  const [isFollowing, setFollowing] = useState(true);
  const output = useQuery({
    queryKey: ["runs", "by-id", runId, "output", task, node],
    queryFn: () => data(api.GET("/api/v1/runs/{id}/output", { params: { path: { id: runId }, query: { task, node } } })),
    refetchInterval: isLive ? POLL_INTERVAL_MS : false,
  });
  const lines = linesOf(output.data ?? []);
  const nLines = lines.length;
  useEffect(() => {
    if (isFollowing && nLines > 0 && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [isFollowing, nLines]);
  if (output.isPending) return <LoadingRows rows={3} />;
  if (output.isError) return <Problem error={output.error} retry={() => void output.refetch()} />;
  if (lines.length === 0) return <p className="muted">{isLive ? "No output yet." : "No output."}</p>;
  const isMatch = (text: string) => search !== "" && text.toLowerCase().includes(search.toLowerCase());
  return (
    <div className="stack tight">
      <div className="toolbar">
        <input type="search" aria-label="Search output" placeholder="Search" value={search} onChange={(event) => setSearch(event.target.value)} />
        <label className="check">
          <input type="checkbox" checked={isFollowing} onChange={(event) => setFollowing(event.target.checked)} />
          <span>Follow</span>
        </label>
        {search && <span className="muted">{count(lines.filter((line) => isMatch(line.text)).length, "matching line")}</span>}
      </div>
      <div className="log" ref={box} role="log" aria-label={`Output of ${task}`} tabIndex={0}>
        {lines.map((line, index) => (
          <div key={index} className={`line ${line.stream}${isMatch(line.text) ? " match" : ""}`}>
            <span className="no" aria-hidden="true">
              {index + 1}
            </span>
            <span>{line.text || " "}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
