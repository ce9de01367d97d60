// A form made from the metadata of attributes. Pure: what is shown follows from the attributes and what was changed.
import { holds, type Models } from "./conditions";

export interface Restriction {
  condition: string;
  action: "disable" | "hide";
  message?: string;
}

export interface Field {
  section: string;
  name: string;
  type: string;
  label: string;
  description?: string;
  value: unknown;
  choices: { data: unknown; label: string; description?: string; restriction?: string }[];
  /** Why it cannot be changed now. */
  disabled?: string;
  problem?: string;
}

export interface Section {
  name: string;
  label: string;
  group: string;
  isToggleable: boolean;
  isEnabled: boolean;
  disabled?: string;
  fields: Field[];
}

type Attributes = Record<string, Record<string, Record<string, unknown>>>;

/** A restriction is a text, a map with one entry (condition: message), or a map with names. */
export function restrictionsOf(given: unknown): Restriction[] {
  if (!Array.isArray(given)) return [];
  return given.flatMap((one): Restriction[] => {
    if (typeof one === "string") return [{ condition: one, action: "disable" }];
    if (typeof one !== "object" || one === null) return [];
    const named = one as Record<string, unknown>;
    if (typeof named.condition === "string" || typeof named.condition === "boolean") {
      const action = named.action === "hide" ? "hide" : named.action === "none" ? undefined : "disable";
      return action ? [{ condition: String(named.condition), action, message: text(named.message) }] : [];
    }
    return Object.entries(named).map(([condition, message]) => ({ condition, action: "disable", message: text(message) }));
  });
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value ? value : undefined;
}

function judge(given: unknown, models: Models): { isHidden: boolean; disabled?: string } {
  const met = restrictionsOf(given).filter((one) => holds(one.condition, models));
  const disabling = met.find((one) => one.action === "disable");
  return {
    isHidden: met.some((one) => one.action === "hide"),
    disabled: disabling && (disabling.message ?? `not possible while ${disabling.condition}`),
  };
}

/** Sections and fields as they are now, in the order of their weights; plugins have a page of their own. */
export function formOf(attributes: Attributes, cluster: Models, version: Models): Section[] {
  const models: Models = { settings: attributes, cluster, version, default: attributes };
  const byWeight = (a: [string, Record<string, unknown>], b: [string, Record<string, unknown>]) => weight(a[1]) - weight(b[1]);
  return Object.entries(attributes)
    .filter(([, section]) => section.metadata?.class !== "plugin")
    .toSorted(([, a], [, b]) => weight(a.metadata ?? {}) - weight(b.metadata ?? {}))
    .flatMap(([name, section]): Section[] => {
      const metadata = section.metadata ?? {};
      const verdict = judge(metadata.restrictions, models);
      if (verdict.isHidden) return [];
      const isToggleable = metadata.toggleable === true;
      const isEnabled = !isToggleable || metadata.enabled === true;
      const fields = Object.entries(section)
        .filter(([key, field]) => key !== "metadata" && typeof field === "object" && field !== null && field.type !== "hidden")
        .toSorted(byWeight)
        .flatMap(([key, field]) => fieldOf(name, key, field, models, isEnabled ? verdict.disabled : "the section is off"));
      if (fields.length === 0 && !isToggleable) return [];
      return [
        {
          name,
          label: text(metadata.label) ?? name,
          group: text(metadata.group) ?? "general",
          isToggleable,
          isEnabled,
          disabled: verdict.disabled,
          fields,
        },
      ];
    });
}

function fieldOf(section: string, name: string, given: Record<string, unknown>, models: Models, off?: string): Field[] {
  const verdict = judge(given.restrictions, models);
  if (verdict.isHidden) return [];
  const values = Array.isArray(given.values) ? (given.values as Record<string, unknown>[]) : [];
  const field: Field = {
    section,
    name,
    type: text(given.type) ?? "text",
    label: text(given.label) ?? name,
    description: text(given.description),
    value: given.value,
    disabled: off ?? verdict.disabled,
    choices: values.map((choice) => ({
      data: choice.data,
      label: text(choice.label) ?? String(choice.data),
      description: text(choice.description),
      restriction: judge(choice.restrictions, models).disabled,
    })),
  };
  return [{ ...field, problem: field.disabled ? undefined : problemOf(given) }];
}

/** What a pattern of the metadata says about a value. */
function problemOf(given: Record<string, unknown>): string | undefined {
  const regex = given.regex as { source?: string; error?: string } | undefined;
  if (!regex?.source) return undefined;
  const values = Array.isArray(given.value) ? given.value : [given.value];
  try {
    const pattern = new RegExp(regex.source);
    const isWrong = values.some((value) => typeof value === "string" && !pattern.test(value));
    return isWrong ? (regex.error ?? `must match ${regex.source}`) : undefined;
  } catch {
    // A pattern of another engine; the server judges.
    return undefined;
  }
}

function weight(given: Record<string, unknown>): number {
  return typeof given.weight === "number" ? given.weight : 100;
}

/** The attributes with changes laid over them: `section.field` to a value, `section` to on or off. */
export function withChanges(attributes: Attributes, changes: Record<string, unknown>): Attributes {
  const next: Attributes = structuredClone(attributes);
  for (const [path, value] of Object.entries(changes)) {
    const dot = path.indexOf(".");
    if (dot < 0) {
      const metadata = next[path]?.metadata;
      if (metadata) metadata.enabled = value;
    } else {
      const field = next[path.slice(0, dot)]?.[path.slice(dot + 1)];
      if (field) field.value = value;
    }
  }
  return next;
}

/** What is sent: nothing but what was changed. */
export function patchOf(changes: Record<string, unknown>): Attributes {
  const patch: Attributes = {};
  for (const [path, value] of Object.entries(changes)) {
    const dot = path.indexOf(".");
    if (dot < 0) (patch[path] ??= {}).metadata = { enabled: value };
    else (patch[path.slice(0, dot)] ??= {})[path.slice(dot + 1)] = { value };
  }
  return patch;
}
