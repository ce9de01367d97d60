// The wizard as panes of controls: labels come from its definition, what can be chosen from the server's evaluation.
import type { Schemas } from "../api/client";
import { asList, asMap } from "./json";

export interface Option {
  data: unknown;
  label: string;
  description: string;
  /** Why it cannot be chosen. */
  why?: string;
}

export interface Control {
  pane: string;
  name: string;
  type: string;
  label: string;
  description: string;
  value: unknown;
  why?: string;
  /** What was chosen and has become impossible, in words. */
  dropped?: string;
  options: Option[];
}

export interface Pane {
  name: string;
  label: string;
  controls: Control[];
}

export function panesOf(definition: Record<string, unknown>, evaluation: Schemas["WizardEvaluation"], answers: Record<string, unknown> = {}): Pane[] {
  const panes = new Map<string, Pane>();
  for (const state of evaluation.controls) {
    if (state.hidden) continue;
    const given = asMap(asMap(definition[state.pane])[state.control]);
    const pane = panes.get(state.pane) ?? { name: state.pane, label: labelOf(asMap(asMap(definition[state.pane]).metadata), state.pane), controls: [] };
    panes.set(state.pane, pane);
    const values = asList(given.values).map(asMap);
    pane.controls.push({
      pane: state.pane,
      name: state.control,
      type: String(given.type ?? (state.options.length > 0 ? "radio" : "checkbox")),
      label: labelOf(given, state.control),
      description: String(given.description ?? ""),
      value: state.value,
      why: state.disabled ? (state.messages.join("; ") || "not possible with what was chosen") : undefined,
      dropped: state.dropped ? droppedOf(values, asMap(answers[state.pane])[state.control]) : undefined,
      options: state.options
        .filter((option) => !option.hidden)
        .map((option) => {
          const known = values.find((value) => value.data === option.data) ?? {};
          return {
            data: option.data,
            label: labelOf(known, String(option.data)),
            description: String(known.description ?? ""),
            why: option.disabled ? (option.messages.join("; ") || "not possible with what was chosen") : undefined,
          };
        }),
    });
  }
  return [...panes.values()];
}

function droppedOf(values: Record<string, unknown>[], asked: unknown): string {
  const known = values.find((value) => value.data === asked);
  return `${known ? labelOf(known, String(asked)) : "What was chosen here"} is not possible any more.`;
}

/** A path of an answer as people see it: the label of its control. */
export function labelAt(panes: Pane[], path: string): string {
  const found = panes.flatMap((pane) => pane.controls).find((control) => `${control.pane}.${control.name}` === path);
  return found?.label ?? path;
}

function labelOf(given: Record<string, unknown>, name: string): string {
  return typeof given.label === "string" && given.label ? given.label : name.replaceAll("_", " ");
}

/** Panes with answers that the server has not judged yet: what was clicked is shown at once. */
export function withAnswers(panes: Pane[], answers: Record<string, unknown>): Pane[] {
  return panes.map((pane) => ({
    ...pane,
    controls: pane.controls.map((control) => {
      const given = asMap(answers[pane.name])[control.name];
      return given === undefined ? control : { ...control, value: given };
    }),
  }));
}

/** Answers with one more. */
export function answered(answers: Record<string, unknown>, pane: string, control: string, value: unknown): Record<string, unknown> {
  return { ...answers, [pane]: { ...asMap(answers[pane]), [control]: value } };
}
