// Syntax highlighting of YAML, line by line. Not a parser: the server validates the text.
export type TokenKind = "key" | "string" | "number" | "comment" | "mark" | "yaql" | "plain";
export interface Token {
  kind: TokenKind;
  text: string;
}

const LINE = /^(\s*(?:- )*)(?:((?:"[^"]*"|'[^']*'|[^\s#:'"\-[{][^:#]*?|[^\s#:]+))(:)(?=\s|$))?(.*)$/;
const NUMBER = /^-?\d[\d_]*(?:\.\d+)?$/;
const KEYWORD = /^(?:true|false|yes|no|on|off|null|~)$/i;

export function yamlTokens(line: string): Token[] {
  const match = LINE.exec(line);
  if (!match) return [{ kind: "plain", text: line }];
  const [, lead = "", key = "", colon = "", rest = ""] = match;
  const tokens: Token[] = [];
  const push = (kind: TokenKind, text: string) => {
    if (text) tokens.push({ kind, text });
  };
  push("mark", lead);
  push("key", key);
  push("mark", colon);
  const comment = commentAt(rest);
  const value = comment < 0 ? rest : rest.slice(0, comment);
  push(kindOf(value.trim(), key), value);
  if (comment >= 0) push("comment", rest.slice(comment));
  return tokens;
}

/** Offset of a comment: a `#` at the start or after a blank, outside of quotes. */
function commentAt(text: string): number {
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at] ?? "";
    if (quote) {
      if (character === quote) quote = "";
    } else if (character === "'" || character === '"') quote = character;
    else if (character === "#" && (at === 0 || /\s/.test(text[at - 1] ?? ""))) return at;
  }
  return -1;
}

function kindOf(value: string, key: string): TokenKind {
  if (key.trim() === "yaql_exp") return "yaql";
  if (/^['"]/.test(value)) return "string";
  if (NUMBER.test(value) || KEYWORD.test(value)) return "number";
  if (/^[>|&*!]/.test(value)) return "mark";
  return "plain";
}

/** Prefix of a function name before the caret, for completion in expressions; undefined elsewhere. */
export function yaqlPrefix(text: string, caret: number): string | undefined {
  const before = text.slice(0, caret);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const word = /[A-Za-z_][\w]*$/.exec(line)?.[0];
  if (word === undefined || line.endsWith(`$.${word}`)) return undefined;
  if (/yaql_exp\s*:/.test(line)) return word;
  return isInYaqlBlock(before) ? word : undefined;
}

/** Whether the last line is inside a block scalar of `yaql_exp`. */
function isInYaqlBlock(before: string): boolean {
  const lines = before.split("\n");
  const indent = (line: string) => line.length - line.trimStart().length;
  const own = indent(lines.at(-1) ?? "");
  for (const line of lines.slice(0, -1).toReversed()) {
    if (line.trim() === "") continue;
    if (indent(line) < own) return /yaql_exp\s*:\s*[>|]/.test(line);
  }
  return false;
}
