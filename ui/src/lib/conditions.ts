// Evaluates the condition language of restrictions, such as
// `settings:a.b.value == true and not ('x' in cluster:mode)`.
// Precedence from lowest to highest: or, and, == and !=, in, not.
// As on the server, `not a == b` is `(not a) == b`.

export type Models = Record<string, unknown>;

type Tree =
  | { kind: "value"; value: unknown }
  | { kind: "path"; model: string; keys: string[] }
  | { kind: "not"; of: Tree }
  | { kind: "or" | "and" | "==" | "!=" | "in"; left: Tree; right: Tree };

const TOKEN = /\s*(==|!=|\(|\)|'[^'\n]*'|"[^"\n]*"|[A-Za-z_][\w-]*:[\w.\-/]+\??|-?\d+(?:\.\d+)?|[A-Za-z_]\w*)/y;
const PRECEDENCE = [["or"], ["and"], ["==", "!="], ["in"]] as const;

export function parseCondition(text: string): Tree {
  const tokens = tokenize(text);
  let at = 0;
  const level = (depth: number): Tree => {
    const operators = PRECEDENCE[depth] as readonly string[] | undefined;
    if (!operators) return unary();
    let left = level(depth + 1);
    for (let token = tokens[at]; token !== undefined && operators.includes(token); token = tokens[at]) {
      at += 1;
      left = { kind: token as "or", left, right: level(depth + 1) };
    }
    return left;
  };
  const unary = (): Tree => {
    const token = tokens[at];
    at += 1;
    if (token === undefined) throw new Error("unexpected end of condition");
    if (token === "not") return { kind: "not", of: unary() };
    if (token === "(") {
      const inner = level(0);
      if (tokens[at] !== ")") throw new Error("missing closing parenthesis");
      at += 1;
      return inner;
    }
    return leaf(token);
  };
  const tree = level(0);
  if (at < tokens.length) throw new Error(`unexpected \`${tokens[at]}\``);
  return tree;
}

function tokenize(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (!match?.[1]) throw new Error(`unexpected characters \`${text.slice(start, start + 10)}\``);
    tokens.push(match[1]);
  }
  return tokens;
}

function leaf(token: string): Tree {
  if (/^['"]/.test(token)) return { kind: "value", value: token.slice(1, -1) };
  if (/^-?\d/.test(token)) return { kind: "value", value: Number(token) };
  const constants: Record<string, unknown> = { true: true, false: false, null: null };
  if (token in constants) return { kind: "value", value: constants[token] };
  const colon = token.indexOf(":");
  if (colon < 0) throw new Error(`unknown name \`${token}\``);
  return { kind: "path", model: token.slice(0, colon), keys: token.slice(colon + 1).replace(/\?$/, "").split(".") };
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

function contains(container: unknown, element: unknown): boolean {
  if (Array.isArray(container)) return container.some((item) => isSame(item, element));
  return typeof container === "string" && typeof element === "string" && container.includes(element);
}

function isTrue(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** Whether a condition holds. An invalid condition does not hold. */
export function holds(text: string, models: Models): boolean {
  try {
    return isTrue(evaluate(parseCondition(text), models));
  } catch {
    return false;
  }
}
