// The wizard as panes of controls. Labels come from its definition, available options from the server's
// evaluation.
import type { Schemas } from "../api/client";
import { asList, asMap } from "./json";

export interface Option {
  data: unknown;
  label: string;
  description: string;
  /** Reason why the option is disabled. */
  reason?: string;
}

export interface Control {
  pane: string;
  name: string;
  type: string;
  label: string;
  description: string;
  value: unknown;
  /** Reason why the control is disabled. */
  reason?: string;
  /** Message about an earlier answer that is no longer available. */
  dropped?: string;
  options: Option[];
}

export interface Pane {
  name: string;
  label: string;
  /** Whether one of its components must be selected. */
  required: boolean;
  controls: Control[];
}

export function panesOf(definition: Record<string, unknown>, evaluation: Schemas["WizardEvaluation"], answers: Record<string, unknown> = {}): Pane[] {
  const panes = new Map<string, Pane>();
  for (const state of evaluation.controls) {
    if (state.hidden) continue;
    const declared = asMap(asMap(definition[state.pane])[state.control]);
    const metadata = asMap(asMap(definition[state.pane]).metadata);
    const pane = panes.get(state.pane) ?? { name: state.pane, label: labelOf(metadata, state.pane), required: metadata.required === true, controls: [] };
    panes.set(state.pane, pane);
    const values = asList(declared.values).map(asMap);
    pane.controls.push({
      pane: state.pane,
      name: state.control,
      type: String(declared.type ?? (state.options.length > 0 ? "radio" : "checkbox")),
      label: labelOf(declared, state.control),
      description: String(declared.description ?? ""),
      value: state.value,
      reason: state.disabled ? (state.messages.join("; ") || "not available with the current selection") : undefined,
      dropped: state.dropped ? droppedMessage(values, asMap(answers[state.pane])[state.control]) : undefined,
      options: state.options
        .filter((option) => !option.hidden)
        .map((option) => {
          const declaredOption = values.find((value) => value.data === option.data) ?? {};
          return {
            data: option.data,
            label: labelOf(declaredOption, String(option.data)),
            description: String(declaredOption.description ?? ""),
            reason: option.disabled ? (option.messages.join("; ") || "not available with the current selection") : undefined,
          };
        }),
    });
  }
  return [...panes.values()];
}

function droppedMessage(values: Record<string, unknown>[], answer: unknown): string {
  const option = values.find((value) => value.data === answer);
  return `${option ? labelOf(option, String(answer)) : "The selected option"} is no longer available.`;
}

/** Label of the control that the path `pane.control` refers to; the path itself if there is none. */
export function labelAt(panes: Pane[], path: string): string {
  const control = panes.flatMap((pane) => pane.controls).find(({ pane, name }) => `${pane}.${name}` === path);
  return control?.label ?? path;
}

function labelOf(declared: Record<string, unknown>, name: string): string {
  return typeof declared.label === "string" && declared.label ? declared.label : name.replaceAll("_", " ");
}

/** Panes with answers that the server has not evaluated yet, so that a click shows without delay. */
export function withAnswers(panes: Pane[], answers: Record<string, unknown>): Pane[] {
  return panes.map((pane) => ({
    ...pane,
    controls: pane.controls.map((control) => {
      const answer = asMap(answers[pane.name])[control.name];
      return answer === undefined ? control : { ...control, value: answer };
    }),
  }));
}

/** Answers to the controls of this wizard. Those of other releases are kept elsewhere for the case that they are selected again. */
export function answersFor(definition: Record<string, unknown>, answers: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, Record<string, unknown>> = {};
  for (const [pane, values] of Object.entries(answers)) {
    const known = Object.entries(asMap(values)).filter(([control]) => control in asMap(definition[pane]));
    if (known.length > 0) result[pane] = Object.fromEntries(known);
  }
  return result;
}

/** Labels of components, from the options and checkboxes that select them. */
export function componentLabels(definition: Record<string, unknown>): Map<string, string> {
  const labels = new Map<string, string>();
  for (const pane of Object.values(definition)) {
    for (const control of Object.values(asMap(pane)).map(asMap)) {
      for (const choice of [control, ...asList(control.values).map(asMap)]) {
        if (typeof choice.component === "string") labels.set(choice.component, labelOf(choice, choice.component));
      }
    }
  }
  return labels;
}

/** Copy of the answers with one answer set. */
export function withAnswer(answers: Record<string, unknown>, pane: string, control: string, value: unknown): Record<string, unknown> {
  return { ...answers, [pane]: { ...asMap(answers[pane]), [control]: value } };
}
