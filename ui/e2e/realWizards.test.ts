// The wizards of real releases, with real plugins. The data set may be absent.
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessibilityViolations, saveScreenshot, Site } from "./kit";
import { boundSettings, componentsOf, createRelease, install, optionsOf, PLUGINS, RELEASES, type Component, type Option, type Wizard } from "./realData";

/** Provides the same component as `nsxv` and is installed after its removal. */
const NSX_T = "community/nsx-t-1.0.0";
const NSX_V = "community/nsxv-3.0.1";
const PROVIDERS = [...PLUGINS.filter((name) => name !== NSX_T && componentsOf(name).length > 0), NSX_T];

let site: Site;
let page: Page & { consoleErrors: string[] };
const releases = new Map<string, number>();
const plugins = new Map<string, number>();
/** Names of plugins that were found on the page of a cluster, and of those that were switched there. */
const found = new Set<string>();
const switched = new Set<string>();

beforeAll(async () => {
  if (RELEASES.length === 0) return;
  site = await Site.start();
  for (const file of RELEASES) releases.set(file, await createRelease(site, file));
  for (const name of PLUGINS) if (name !== NSX_T) plugins.set(name, install(site, name));
  page = await site.open("/clusters");
}, 180_000);
afterAll(() => site?.stop());

function summary() {
  return page.getByRole("complementary", { name: "Summary" });
}

/** Waits until the server has evaluated the last answer. */
async function settled(): Promise<void> {
  await page.locator('form[aria-label="New cluster"][aria-busy="false"]').waitFor();
}

async function openWizard(file: string, name: string): Promise<void> {
  await page.goto(`/clusters/new?release=${releases.get(file)}`);
  await page.getByRole("textbox", { name: "Name" }).fill(name);
  await settled();
}

function choices(): Locator {
  return page.locator("form section:not([aria-labelledby=pane-name]) input:is([type=checkbox], [type=radio])");
}

/** Messages about selected components that exclude each other or lack another one. */
function conflicts(): Promise<string[]> {
  return summary().locator(".problem:not(.warning)").allInnerTexts();
}

async function click(input: Locator): Promise<void> {
  await input.click();
  await settled();
}

/** Text of the label of a choice, and the reason why it is disabled. */
async function reasonOf(input: Locator): Promise<string> {
  // The reason is below the label, or below the control of which the choice is an option.
  const text = await input.locator("xpath=ancestor::*[contains(@class, 'field')][1]").innerText();
  expect(text.split("\n").length, text).toBeGreaterThan(1);
  return text;
}

interface Created {
  id: number;
  components: string[];
  answers: Record<string, Record<string, unknown>>;
}

/** Creates the cluster and checks that its page shows the selected components. */
async function create(name: string): Promise<Created> {
  const request = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/api/v1/clusters"));
  await page.getByRole("button", { name: "Create cluster" }).click();
  const { wizard = {} } = (await request).postDataJSON() as { wizard?: Created["answers"] };
  await page.getByRole("heading", { name }).waitFor();
  const id = Number(new URL(page.url()).pathname.split("/")[2]);
  const { components } = await site.call<{ components: string[] }>("GET", `clusters/${id}`);
  const shown = page.getByRole("region", { name: "Details" }).locator(".chip");
  if (components.length > 0) await shown.nth(components.length - 1).waitFor();
  expect(await shown.allInnerTexts()).toEqual(components);
  return { id, components, answers: wizard };
}

type Sections = Record<string, Record<string, { value?: unknown; type?: string; values?: { data: unknown; label: string }[] }> & { metadata?: { class?: string; enabled?: boolean; label?: string } }>;

async function settingsOf(cluster: number): Promise<Sections> {
  return (await site.call<{ editable: Sections }>("GET", `clusters/${cluster}/attributes`)).editable;
}

/** Checks that settings have the values that the wizard bound to them, on the page of the settings as well. Returns the number of fields on the page. */
async function findSettings(release: number, { id, answers }: Created): Promise<number> {
  const wizard = await site.call<Wizard>("GET", `releases/${release}/wizard`);
  const { components_metadata: components } = await site.call<{ components_metadata: Component[] }>("GET", `releases/${release}`);
  const settings = await settingsOf(id);
  // A blank matches the names of all settings, so that the settings of all groups are listed.
  await page.goto(`/clusters/${id}/settings?q=%20`);
  await page.getByRole("heading", { level: 2 }).first().waitFor();
  let nFields = 0;
  for (const [path, values] of boundSettings(wizard, components ?? [], answers)) {
    const [section = "", name = ""] = path.split(".");
    const setting = settings[section]?.[name];
    expect(values, path).toContainEqual(setting?.value);
    const field = page.locator(`#field-${section}-${name}`);
    if (setting?.type === "checkbox" && (await field.count()) > 0) {
      expect(await field.isChecked(), path).toBe(setting.value);
      nFields += 1;
    }
    const options = page.locator(`input[name="field-${section}-${name}"]`);
    if (setting?.type === "radio" && (await options.count()) > 0) {
      const position = setting.values?.findIndex(({ data }) => data === setting.value) ?? -1;
      expect(await options.nth(position).isChecked(), path).toBe(true);
      nFields += 1;
    }
  }
  return nFields;
}

/** Follows a message about a choice: unselects what it conflicts with, and selects what it requires. */
async function follow(message: string, chosen: Option, options: Option[]): Promise<boolean> {
  const type = /component of type `(\w+)`/.exec(message)?.[1];
  for (const option of options) {
    const isNamed = type ? option.component.startsWith(`${type}:`) : option.label.length > 0 && message.includes(option.label);
    const input = page.locator(option.selector);
    if (option.component === chosen.component || !isNamed || (await input.isDisabled())) continue;
    const isRadio = (await input.getAttribute("type")) === "radio";
    if (type && (await input.isChecked())) continue;
    if (isRadio && (await input.isChecked())) {
      const others = page.locator(`input[name="${await input.getAttribute("name")}"]:not(:checked):enabled`);
      if ((await others.count()) === 0) continue;
      await click(others.first());
    } else await click(input);
    return true;
  }
  return false;
}

/** Selects a component as a user does who reads the messages. Returns the last message if it cannot be selected. */
async function choose(chosen: Option, options: Option[]): Promise<string | undefined> {
  const input = page.locator(chosen.selector);
  let messages: string[] = [];
  for (let step = 0; step < 8; step += 1) {
    if (await input.isDisabled()) messages = (await reasonOf(input)).split("\n").filter((line) => line.startsWith("⊘"));
    else {
      if (!(await input.isChecked())) await click(input);
      messages = await conflicts();
      if (messages.length === 0) return undefined;
    }
    let hasFollowed = false;
    for (const message of messages) hasFollowed ||= await follow(message, chosen, options);
    if (!hasFollowed) break;
  }
  return messages.join("; ");
}

/** Checks the list of plugins, and switches each plugin once: it is enabled, or refused with the reason. */
async function findPlugins(cluster: number): Promise<void> {
  const sections = Object.entries(await settingsOf(cluster)).filter(([, section]) => section.metadata?.class === "plugin");
  if (sections.length === 0) return;
  await page.goto(`/clusters/${cluster}/plugins`);
  const table = page.getByRole("table", { name: "Plugins" });
  await table.waitFor();
  for (const [name, section] of sections) {
    const row = table.getByRole("row").filter({ has: page.locator(".mono").getByText(name, { exact: true }) });
    const box = row.getByRole("checkbox");
    found.add(name);
    expect(await box.isChecked(), name).toBe(section.metadata?.enabled);
    if (section.metadata?.enabled || switched.has(name)) continue;
    switched.add(name);
    const response = page.waitForResponse((response) => response.request().method() === "PUT");
    await box.click();
    if ((await response).ok()) await row.getByText("enabled", { exact: true }).waitFor();
    else expect((await page.getByRole("alert").innerText()).length).toBeGreaterThan("Plugin not changed: ".length);
  }
}

describe.skipIf(RELEASES.length === 0)("real releases", () => {
  test.each(RELEASES)("every choice of %s is possible or disabled with a reason, and the cluster has the choices", { timeout: 120_000 }, async (file) => {
    const release = releases.get(file) ?? 0;
    await openWizard(file, `walk ${file}`);
    const inputs = choices();
    const count = await inputs.count();
    expect(count).toBeGreaterThan(5);
    expect(await page.getByRole("form", { name: "New cluster" }).innerText()).not.toContain("dialog.");
    let nDisabled = 0;
    for (let index = 0; index < count; index += 1) {
      const input = inputs.nth(index);
      if (await input.isDisabled()) {
        await reasonOf(input);
        nDisabled += 1;
        continue;
      }
      const isCheckbox = (await input.getAttribute("type")) === "checkbox";
      const wasChecked = await input.isChecked();
      const isSelected = (all: Element[], name: string | null) => (all as HTMLInputElement[]).findIndex((other) => other.name === name && other.checked);
      const previous = isCheckbox ? index : await inputs.evaluateAll(isSelected, await input.getAttribute("name"));
      await click(input);
      expect(await input.isChecked()).toBe(isCheckbox ? !wasChecked : true);
      // A choice that does not fit the others is taken back.
      if ((await conflicts()).length > 0) await click(inputs.nth(previous));
      expect(await conflicts(), `after choice ${index}`).toEqual([]);
    }
    // On Ubuntu, Mitaka has most of the plugins, whose components exclude each other.
    expect(nDisabled).toBeGreaterThanOrEqual(file.startsWith("mitaka-9.0-ubuntu") ? 10 : 1);
    const created = await create(`walk ${file}`);
    const defaults = await site.call<Pick<Created, "answers">>("POST", `releases/${release}/wizard/evaluate`, {});
    expect(created.answers).not.toEqual(defaults.answers);
    expect(await findSettings(release, created)).toBeGreaterThanOrEqual(4);
    await findPlugins(created.id);
    expect(page.consoleErrors).toEqual([]);
  });

  test("every plugin fits a release and is on the page of its clusters", async () => {
    expect(PLUGINS).toHaveLength(32);
    const names = (await site.call<{ name: string }[]>("GET", "plugins")).map(({ name }) => name);
    // The releases of the first template and of the data set do not overlap.
    expect(names.filter((name) => !found.has(name))).toEqual(["demo_plugin_v1"]);
    expect(switched.size).toBeGreaterThanOrEqual(17);
  });

  test.each(PROVIDERS)("components of %s are chosen or disabled with a reason", { timeout: 60_000 }, async (name) => {
    if (name === NSX_T) {
      for (const { id } of await site.call<{ id: number }[]>("GET", "clusters")) await site.call("DELETE", `clusters/${id}`);
      await site.call("DELETE", `plugins/${plugins.get(NSX_V)}`);
      plugins.set(name, install(site, name));
    }
    const plugin = await site.call<{ name: string; title: string }>("GET", `plugins/${plugins.get(name)}`);
    for (const component of componentsOf(name)) {
      // Every plugin with components fits one of these releases.
      const file = name.endsWith("opendaylight-1.0.0") ? "newton-10.0-ubuntu.yaml" : "mitaka-9.0-ubuntu.yaml";
      const options = optionsOf(await site.call<Wizard>("GET", `releases/${releases.get(file)}/wizard`));
      const option = options.find((candidate) => candidate.component === component);
      if (!option) throw new Error(`the wizard has no choice of ${component}`);
      await openWizard(file, component);
      const refusal = await choose(option, options);
      // The components of the two examples require a hypervisor that does not exist.
      if (name.startsWith("examples/")) {
        expect(refusal).toContain("requires XXX compute");
        continue;
      }
      expect(refusal).toBeUndefined();
      const { id, components } = await create(component);
      expect(components).toContain(component);
      expect((await settingsOf(id))[plugin.name]?.metadata?.enabled).toBe(true);
      await page.getByRole("link", { name: "Plugins" }).click();
      expect(await page.getByRole("checkbox", { name: `Enable ${plugin.title}`, exact: true }).isChecked()).toBe(true);
    }
    expect(page.consoleErrors).toEqual([]);
  });

  test("conflicting components are disabled with the reason, and the cluster has the selection", { timeout: 120_000 }, async () => {
    await openWizard("newton-10.0-ubuntu.yaml", "tunnels");
    await saveScreenshot(page, "wizard-generated");
    await page.getByRole("radio", { name: /tunneling/ }).check();
    await page.getByText("Ironic is not compatible with Neutron with tunneling segmentation").waitFor();
    expect(await page.getByRole("checkbox", { name: /^Ironic/ }).isDisabled()).toBe(true);
    await page.getByRole("radio", { name: /^Ceph \(block\)/ }).check();
    await page.getByRole("checkbox", { name: /^Sahara/ }).check();
    await settled();
    await page.evaluate(() => document.querySelector("main")?.scrollTo(0, 600));
    await saveScreenshot(page, "wizard-generated-conflict");
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("checkbox", { name: /^QEMU-KVM/ }).uncheck();
    await summary().getByText("a component of type `hypervisor` must be selected").waitFor();
    expect(await page.getByRole("button", { name: "Create cluster" }).isDisabled()).toBe(true);
    await page.getByRole("checkbox", { name: /^QEMU-KVM/ }).check();
    await settled();
    await create("tunnels");
    await page.getByText("network:neutron:ml2:tun").first().waitFor();
    await page.getByText("storage:block:ceph").first().waitFor();
  });

  test("component of a plugin enables the plugin", { timeout: 120_000 }, async () => {
    await openWizard("mitaka-9.0-ubuntu.yaml", "dvs");
    await page.getByRole("checkbox", { name: /^Neutron with VMware DVS/ }).and(page.locator(":disabled")).waitFor();
    await page.getByText("The VMware DVS plugin requires vCenter as the hypervisor option.").first().waitFor();
    await page.getByRole("checkbox", { name: /^vCenter/ }).check();
    await page.getByRole("checkbox", { name: /^Neutron with VMware DVS/ }).check();
    await settled();
    await saveScreenshot(page, "wizard-plugin");
    await summary().getByText("fuel-plugin-vmware-dvs").waitFor();
    // Name and answers survive a change of the release.
    await page.getByRole("combobox", { name: "Release" }).selectOption(String(releases.get("newton-10.0-ubuntu.yaml")));
    await settled();
    expect(await page.getByRole("textbox", { name: "Name" }).inputValue()).toBe("dvs");
    await page.getByRole("combobox", { name: "Release" }).selectOption(String(releases.get("mitaka-9.0-ubuntu.yaml")));
    await settled();
    expect(await page.getByRole("checkbox", { name: /^Neutron with VMware DVS/ }).isChecked()).toBe(true);
    await create("dvs");
    await page.getByRole("link", { name: "Plugins" }).click();
    expect(await page.getByRole("checkbox", { name: /^Enable .*DVS/i }).isChecked()).toBe(true);
  });
});
