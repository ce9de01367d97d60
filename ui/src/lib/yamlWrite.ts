// Writes values as YAML for the editor. Multi-line strings become block scalars, so that expressions are
// legible.
export function toYaml(value: unknown, indent = 0): string {
  const pad = "  ".repeat(indent);
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]\n";
    return value
      .map((item) => {
        if (isScalar(item)) return `${pad}- ${scalar(item, indent + 1)}`;
        const text = toYaml(item, indent + 1);
        return isEmpty(item) ? `${pad}- ${text}` : `${pad}- ${text.trimStart()}`;
      })
      .join("");
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    if (entries.length === 0) return "{}\n";
    return entries
      .map(([key, item]) => {
        const name = /^[A-Za-z_][\w-]*$/.test(key) && !isAmbiguous(key) ? key : JSON.stringify(key);
        if (isScalar(item)) return `${pad}${name}: ${scalar(item, indent + 1)}`;
        if (isEmpty(item)) return `${pad}${name}: ${toYaml(item)}`;
        return `${pad}${name}:\n${toYaml(item, Array.isArray(item) ? indent : indent + 1)}`;
      })
      .join("");
  }
  return `${pad}${scalar(value, indent)}`;
}

function isScalar(value: unknown): boolean {
  return typeof value !== "object" || value === null;
}

function isEmpty(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function scalar(value: unknown, indent: number): string {
  if (typeof value !== "string") return `${JSON.stringify(value ?? null)}\n`;
  const canBeBlock = value.includes("\n") && !/^\s/.test(value) && !/[^\S\n]\n|\n$|[^\P{C}\n\t]/u.test(value);
  if (canBeBlock) {
    const pad = "  ".repeat(indent);
    return `|-\n${value.split("\n").map((line) => (line ? `${pad}${line}` : "")).join("\n")}\n`;
  }
  const isPlain = /^[A-Za-z_/$][\w ./$()@,+-]*$/.test(value) && !/\s$|\s#|:\s/.test(value) && !isAmbiguous(value);
  return `${isPlain ? value : JSON.stringify(value)}\n`;
}

function isAmbiguous(text: string): boolean {
  return /^(?:true|false|yes|no|on|off|null|y|n)$/i.test(text);
}
