import type { Schemas } from "../api/client";

export interface LogLine {
  attempt: number;
  stream: string;
  text: string;
}

/** Joins chunks of output into lines. A gap between chunks becomes a note. */
export function linesOf(chunks: Schemas["Output"][]): LogLine[] {
  const lines: LogLine[] = [];
  const ends = new Map<string, number>();
  const open = new Map<string, LogLine>();
  for (const chunk of chunks) {
    const key = `${chunk.attempt} ${chunk.stream}`;
    const expected = ends.get(key) ?? 0;
    if (chunk.start > expected) {
      open.delete(key);
      lines.push({ attempt: chunk.attempt, stream: "note", text: `… ${chunk.start - expected} bytes of output missing` });
    }
    ends.set(key, chunk.start + new TextEncoder().encode(chunk.text).length);
    const segments = chunk.text.split("\n");
    segments.forEach((text, index) => {
      const unfinished = index === 0 ? open.get(key) : undefined;
      if (unfinished) unfinished.text += text;
      else if (index < segments.length - 1 || text !== "") {
        const line = { attempt: chunk.attempt, stream: chunk.stream, text };
        lines.push(line);
        open.set(key, line);
      }
      if (index < segments.length - 1) open.delete(key);
    });
  }
  return lines;
}
