export interface DiffLine {
  kind: "del" | "add" | "same";
  text: string;
}

/**
 * Lines of an old and a new value. Equal lines at both ends are context. Values that look the same are changed secrets, so
 * both are listed.
 */
export function diffLines(before: string | null | undefined, after: string | null | undefined): DiffLine[] {
  const [old, next] = [linesOf(before), linesOf(after)];
  const isMasked = before === after;
  const rest = isMasked ? 0 : Math.min(old.length, next.length);
  let nStart = 0;
  while (nStart < rest && old[nStart] === next[nStart]) nStart += 1;
  let nEnd = 0;
  while (nEnd < rest - nStart && old[old.length - 1 - nEnd] === next[next.length - 1 - nEnd]) nEnd += 1;
  const line = (kind: DiffLine["kind"]) => (text: string) => ({ kind, text });
  return [
    ...old.slice(0, nStart).map(line("same")),
    ...old.slice(nStart, old.length - nEnd).map(line("del")),
    ...next.slice(nStart, next.length - nEnd).map(line("add")),
    ...old.slice(old.length - nEnd).map(line("same")),
  ];
}

function linesOf(text: string | null | undefined): string[] {
  return text == null ? [] : text.split("\n");
}
