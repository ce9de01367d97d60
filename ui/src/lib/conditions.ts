// The condition language of restrictions: `settings:a.b.value == true and not ('x' in cluster:mode)`.
// From loose to tight: or, and, == and !=, in, not, values. As on the server, `not a == b` is `(not a) == b`.

export type Models = Record<string, unknown>;

type Tree =
  | { kind: "value"; value: unknown }
  | { kind: "path"; model: string; keys: string[] }
  | { kind: "not"; of: Tree }
  | { kind: "or" | "and" | "==" | "!=" | "in"; left: Tree; right: Tree };

const WORDS = /\s*(==|!=|\(|\)|'[^'\n]*'|"[^"\n]*"|[A-Za-z_][\w-]*:[\w.\-/]+\??|-?\d+(?:\.\d+)?|[A-Za-z_]\w*)/y;
const LEVELS = [["or"], ["and"], ["==", "!="], ["in"]] as const;

export function parseCondition(text: string): Tree {
  const words = split(text);
  let at = 0;
  const level = (depth: number): Tree => {
    const operators = LEVELS[depth] as readonly string[] | undefined;
    if (!operators) return unary();
    let left = level(depth + 1);
    for (let word = words[at]; word !== undefined && operators.includes(word); word = words[at]) {
      at += 1;
      left = { kind: word as "or", left, right: level(depth + 1) };
    }
    return left;
  };
  const unary = (): Tree => {
    const word = words[at];
    at += 1;
    if (word === undefined) throw new Error("the condition ends too early");
    if (word === "not") return { kind: "not", of: unary() };
    if (word === "(") {
      const inner = level(0);
      if (words[at] !== ")") throw new Error("a parenthesis is not closed");
      at += 1;
      return inner;
    }
    return leaf(word);
  };
  const tree = level(0);
  if (at < words.length) throw new Error(`“${words[at]}” is too much`);
  return tree;
}

function split(text: string): string[] {
  const found: string[] = [];
  WORDS.lastIndex = 0;
  while (WORDS.lastIndex < text.trimEnd().length) {
    const start = WORDS.lastIndex;
    const match = WORDS.exec(text);
    if (!match?.[1]) throw new Error(`“${text.slice(start, start + 10)}” makes no sense in a condition`);
    found.push(match[1]);
  }
  return found;
}

function leaf(word: string): Tree {
  if (/^['"]/.test(word)) return { kind: "value", value: word.slice(1, -1) };
  if (/^-?\d/.test(word)) return { kind: "value", value: Number(word) };
  const constants: Record<string, unknown> = { true: true, false: false, null: null };
  if (word in constants) return { kind: "value", value: constants[word] };
  const colon = word.indexOf(":");
  if (colon < 0) throw new Error(`“${word}” is no word of a condition`);
  return { kind: "path", model: word.slice(0, colon), keys: word.slice(colon + 1).replace(/\?$/, "").split(".") };
}

function evaluate(tree: Tree, models: Models): unknown {
  switch (tree.kind) {
    case "value":
      return tree.value;
    case "path":
      return tree.keys.reduce<unknown>(
        (value, key) => (typeof value === "object" && value !== null ? (value as Models)[key] : undefined),
        models[tree.model],
      );
    case "not":
      return !isTrue(evaluate(tree.of, models));
    case "or":
      return isTrue(evaluate(tree.left, models)) || isTrue(evaluate(tree.right, models));
    case "and":
      return isTrue(evaluate(tree.left, models)) && isTrue(evaluate(tree.right, models));
    default: {
      const [left, right] = [evaluate(tree.left, models), evaluate(tree.right, models)];
      if (tree.kind === "in") return contains(right, left);
      return isSame(left, right) === (tree.kind === "==");
    }
  }
}

function isSame(a: unknown, b: unknown): boolean {
  return (a ?? null) === (b ?? null) || JSON.stringify(a) === JSON.stringify(b);
}

function contains(whole: unknown, part: unknown): boolean {
  if (Array.isArray(whole)) return whole.some((item) => isSame(item, part));
  return typeof whole === "string" && typeof part === "string" && whole.includes(part);
}

function isTrue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** Whether a condition holds; one that cannot be read does not. */
export function holds(text: string, models: Models): boolean {
  try {
    return isTrue(evaluate(parseCondition(text), models));
  } catch {
    return false;
  }
}
