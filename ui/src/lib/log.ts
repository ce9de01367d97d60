import type { Schemas } from "../api/client";

export interface LogLine {
  attempt: number;
  stream: string;
  text: string;
}

/** Pieces of output as lines; a gap in what was kept is said. */
export function linesOf(pieces: Schemas["Output"][]): LogLine[] {
  const lines: LogLine[] = [];
  const ends = new Map<string, number>();
  const open = new Map<string, LogLine>();
  for (const piece of pieces) {
    const key = `${piece.attempt} ${piece.stream}`;
    const expected = ends.get(key) ?? 0;
    if (piece.start > expected) {
      open.delete(key);
      lines.push({ attempt: piece.attempt, stream: "note", text: `… ${piece.start - expected} bytes were not kept` });
    }
    ends.set(key, piece.start + new TextEncoder().encode(piece.text).length);
    const parts = piece.text.split("\n");
    parts.forEach((text, place) => {
      const begun = place === 0 ? open.get(key) : undefined;
      if (begun) begun.text += text;
      else if (place < parts.length - 1 || text !== "") {
        const line = { attempt: piece.attempt, stream: piece.stream, text };
        lines.push(line);
        open.set(key, line);
      }
      if (place < parts.length - 1) open.delete(key);
    });
  }
  return lines;
}
