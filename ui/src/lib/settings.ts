// The settings form, derived from the metadata of attributes and the unsaved changes. Pure functions.
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
  /** Reason why the field is read-only; undefined if it is editable. */
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

/** A restriction is a condition, a map with one entry `condition: message`, or a map with named keys. */
export function restrictionsOf(list: unknown): Restriction[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((item): Restriction[] => {
    if (typeof item === "string") return [{ condition: item, action: "disable" }];
    if (typeof item !== "object" || item === null) return [];
    const named = item as Record<string, unknown>;
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

function evaluateRestrictions(restrictions: unknown, models: Models): { isHidden: boolean; disabled?: string } {
  const active = restrictionsOf(restrictions).filter((restriction) => holds(restriction.condition, models));
  const disabling = active.find((restriction) => restriction.action === "disable");
  return {
    isHidden: active.some((restriction) => restriction.action === "hide"),
    disabled: disabling && (disabling.message ?? `unavailable while ${disabling.condition}`),
  };
}

/** Visible sections and fields, sorted by weight. Plugins are left out: they have their own page. */
export function formOf(attributes: Attributes, cluster: Models, version: Models): Section[] {
  const models: Models = { settings: attributes, cluster, version, default: attributes };
  const byWeight = (a: [string, Record<string, unknown>], b: [string, Record<string, unknown>]) => weight(a[1]) - weight(b[1]);
  return Object.entries(attributes)
    .filter(([, section]) => section.metadata?.class !== "plugin")
    .toSorted(([, a], [, b]) => weight(a.metadata ?? {}) - weight(b.metadata ?? {}))
    .flatMap(([name, section]): Section[] => {
      const metadata = section.metadata ?? {};
      const restricted = evaluateRestrictions(metadata.restrictions, models);
      if (restricted.isHidden) return [];
      const isToggleable = metadata.toggleable === true;
      const isEnabled = !isToggleable || metadata.enabled === true;
      const fields = Object.entries(section)
        .filter(([key, field]) => key !== "metadata" && typeof field === "object" && field !== null && field.type !== "hidden")
        .toSorted(byWeight)
        .flatMap(([key, field]) => fieldOf(name, key, field, models, isEnabled ? restricted.disabled : "the section is disabled"));
      if (fields.length === 0 && !isToggleable) return [];
      return [
        {
          name,
          label: text(metadata.label) ?? name,
          group: text(metadata.group) ?? "general",
          isToggleable,
          isEnabled,
          disabled: restricted.disabled,
          fields,
        },
      ];
    });
}

function fieldOf(section: string, name: string, metadata: Record<string, unknown>, models: Models, sectionReason?: string): Field[] {
  const restricted = evaluateRestrictions(metadata.restrictions, models);
  if (restricted.isHidden) return [];
  const values = Array.isArray(metadata.values) ? (metadata.values as Record<string, unknown>[]) : [];
  const field: Field = {
    section,
    name,
    type: text(metadata.type) ?? "text",
    label: text(metadata.label) ?? name,
    description: text(metadata.description),
    value: metadata.value,
    disabled: sectionReason ?? restricted.disabled,
    choices: values.map((choice) => ({
      data: choice.data,
      label: text(choice.label) ?? String(choice.data),
      description: text(choice.description),
      restriction: evaluateRestrictions(choice.restrictions, models).disabled,
    })),
  };
  return [{ ...field, problem: field.disabled ? undefined : problemOf(metadata) }];
}

/** Validates a value against the pattern of its metadata. Returns the error message. */
function problemOf(metadata: Record<string, unknown>): string | undefined {
  const regex = metadata.regex as { source?: string; error?: string } | undefined;
  if (!regex?.source) return undefined;
  const values = Array.isArray(metadata.value) ? metadata.value : [metadata.value];
  try {
    const pattern = new RegExp(regex.source);
    const isInvalid = values.some((value) => typeof value === "string" && !pattern.test(value));
    return isInvalid ? (regex.error ?? `must match ${regex.source}`) : undefined;
  } catch {
    // Not a JavaScript pattern (the server uses another regex engine): the server validates the value.
    return undefined;
  }
}

function weight(metadata: Record<string, unknown>): number {
  return typeof metadata.weight === "number" ? metadata.weight : 100;
}

/**
 * Applies unsaved changes: the key `section.field` sets a value, the key `section` enables or disables the
 * section.
 */
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

/** Body of the update request: only changed values. */
export function patchOf(changes: Record<string, unknown>): Attributes {
  const patch: Attributes = {};
  for (const [path, value] of Object.entries(changes)) {
    const dot = path.indexOf(".");
    if (dot < 0) (patch[path] ??= {}).metadata = { enabled: value };
    else (patch[path.slice(0, dot)] ??= {})[path.slice(dot + 1)] = { value };
  }
  return patch;
}
