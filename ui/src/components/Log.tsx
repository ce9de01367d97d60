import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { api, data } from "../api/client";
import { linesOf } from "../lib/log";
import { LoadingRows } from "./Loading";
import { Problem } from "./Problem";

const AGAIN_MS = 1500;

/** What a task printed, followed to its end while it runs. */
export function Log({ runId, task, node, isLive }: { runId: number; task: string; node: string; isLive: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  const [search, setSearch] = useState("");
  const [follows, setFollows] = useState(true);
  const output = useQuery({
    queryKey: ["runs", "one", runId, "output", task, node],
    queryFn: () => data(api.GET("/api/v1/runs/{id}/output", { params: { path: { id: runId }, query: { task, node } } })),
    refetchInterval: isLive ? AGAIN_MS : false,
  });
  const lines = linesOf(output.data ?? []);
  const nLines = lines.length;
  useEffect(() => {
    if (follows && nLines > 0 && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [follows, nLines]);
  if (output.isPending) return <LoadingRows rows={3} />;
  if (output.isError) return <Problem error={output.error} retry={() => void output.refetch()} />;
  if (lines.length === 0) return <p className="muted">{isLive ? "It has printed nothing yet." : "It printed nothing."}</p>;
  const isFound = (text: string) => search !== "" && text.toLowerCase().includes(search.toLowerCase());
  return (
    <div className="stack tight">
      <div className="toolbar">
        <input type="search" aria-label="Search in the output" placeholder="Search" value={search} onChange={(event) => setSearch(event.target.value)} />
        <label className="check">
          <input type="checkbox" checked={follows} onChange={(event) => setFollows(event.target.checked)} />
          <span>Follow</span>
        </label>
        {search && <span className="muted">{lines.filter((line) => isFound(line.text)).length} found</span>}
      </div>
      <div className="log" ref={box} role="log" aria-label={`Output of ${task}`} tabIndex={0}>
        {lines.map((line, place) => (
          <div key={place} className={`line ${line.stream}${isFound(line.text) ? " found" : ""}`}>
            <span className="no" aria-hidden="true">
              {place + 1}
            </span>
            <span>{line.text || " "}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
