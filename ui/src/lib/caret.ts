/**
 * Returns the line of `text` that contains a span, with carets beneath the span. Offsets are in UTF-8 bytes.
 */
export function caretAt(text: string, start: number, end: number): string {
  const bytes = new TextEncoder().encode(text);
  const before = new TextDecoder().decode(bytes.slice(0, start));
  const marked = new TextDecoder().decode(bytes.slice(start, Math.max(end, start + 1)));
  const lineStart = before.lastIndexOf("\n") + 1;
  const line = text.slice(lineStart).split("\n")[0] ?? "";
  const column = before.length - lineStart;
  const width = Math.max(1, Math.min(marked.split("\n")[0]?.length ?? 1, line.length - column));
  return `${line}\n${" ".repeat(column)}${"^".repeat(width)}`;
}
