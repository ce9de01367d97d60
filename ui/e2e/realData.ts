// Releases and plugins of the shared data set, which may be absent.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Site } from "./kit";

const DATA = fileURLToPath(new URL("../../../shared/data/", import.meta.url));
export const RELEASES = existsSync(join(DATA, "releases")) ? readdirSync(join(DATA, "releases")).filter((name) => name.endsWith(".yaml")).toSorted() : [];
/** Directories of plugins, relative to the data set of plugins. */
export const PLUGINS = RELEASES.length === 0 ? [] : ["examples", "templates", "community"].flatMap((group) => readdirSync(join(DATA, "plugins", group)).toSorted().map((name) => `${group}/${name}`));

export async function createRelease(site: Site, file: string): Promise<number> {
  const { id } = await site.call<{ id: number }>("POST", "releases", readFileSync(join(DATA, "releases", file), "utf8"));
  await site.call("PUT", `releases/${id}`, { state: "available" });
  return id;
}

/** Copies a plugin with the directories that its metadata names, which the data set lacks, and installs it. */
export function install(site: Site, name: string): number {
  const folder = join(site.folder, name);
  cpSync(join(DATA, "plugins", name), folder, { recursive: true });
  const metadata = readFileSync(join(folder, "metadata.yaml"), "utf8");
  for (const [, path] of metadata.matchAll(/_path: *['"]?([\w/.-]+)/g)) mkdirSync(join(folder, path ?? ""), { recursive: true });
  // These tasks have a duplicate key, which the server refuses. The wizard does not read tasks.
  if (name.endsWith("opendaylight-1.0.0")) writeFileSync(join(folder, "deployment_tasks.yaml"), "[]\n");
  return Number(site.command("plugin", "install", folder, "--quiet"));
}

/** Names of the components that a plugin provides. */
export function componentsOf(name: string): string[] {
  const file = join(DATA, "plugins", name, "components.yaml");
  return existsSync(file) ? [...readFileSync(file, "utf8").matchAll(/^- name: *['"]?([\w:-]+)/gm)].map(([, component]) => component ?? "") : [];
}

export interface Component {
  name: string;
  label?: string;
  bind?: unknown;
}

type Answers = Record<string, Record<string, unknown>>;
interface Choice {
  data?: unknown;
  label?: string;
  component?: string;
  bind?: unknown;
  values?: Choice[];
}
export type Wizard = Record<string, Record<string, Choice>>;

/** A choice on the page of the wizard. */
export interface Option {
  component: string;
  label: string;
  /** CSS selector of its input. */
  selector: string;
}

/** All choices of a wizard that select a component. */
export function optionsOf(wizard: Wizard): Option[] {
  const controls = Object.entries(wizard).flatMap(([pane, controls]) => Object.entries(controls).map(([name, control]) => ({ id: `control-${pane}-${name}`, control })));
  return controls.flatMap(({ id, control }) => {
    const options = (control.values ?? []).map(({ component, label = "" }, index) => ({ component, label, selector: `:nth-match(input[name="${id}"], ${index + 1})` }));
    return [{ component: control.component, label: control.label ?? "", selector: `#${id}` }, ...options].filter((option): option is Option => option.component !== undefined);
  });
}

/** Settings that the answers to a wizard bind: the values that the answers give to each path. */
export function boundSettings(wizard: Wizard, components: Component[], answers: Answers): Map<string, unknown[]> {
  const bound = new Map<string, unknown[]>();
  const add = (target: unknown, value: unknown) => {
    const path = /^settings:(.+)\.value$/.exec(String(target))?.[1];
    if (path) bound.set(path, [...(bound.get(path) ?? []), value]);
  };
  const addAll = (bind: unknown, value: unknown) => {
    for (const entry of Array.isArray(bind) ? bind : [bind]) {
      if (Array.isArray(entry)) add(entry[0], entry[1]);
      else if (typeof entry === "object" && entry !== null) for (const [target, given] of Object.entries(entry)) add(target, given);
      else add(entry, value);
    }
  };
  for (const [pane, controls] of Object.entries(answers)) {
    for (const [name, answer] of Object.entries(controls)) {
      const control = wizard[pane]?.[name];
      const choices = control?.values ? control.values.filter((option) => option.data === answer) : control && answer === true ? [control] : [];
      addAll(control?.bind, answer);
      for (const choice of choices) {
        if (choice !== control) addAll(choice.bind, true);
        addAll(components.find((component) => component.name === choice.component)?.bind, true);
      }
    }
  }
  return bound;
}
