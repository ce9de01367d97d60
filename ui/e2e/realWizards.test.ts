// The wizards of real releases, with real plugins. The data set may be absent.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accessibilityViolations, saveScreenshot, Site } from "./kit";

const DATA = fileURLToPath(new URL("../../../shared/data/", import.meta.url));
const FILES = existsSync(join(DATA, "releases")) ? readdirSync(join(DATA, "releases")).filter((name) => name.endsWith(".yaml")).toSorted() : [];
/** Plugins with components. `nsx-t` is left out, because `nsxv` provides the same component. */
const PLUGINS = ["contrail-5.1.0", "fuel-plugin-calico-3.0.1", "fuel-plugin-manila-1.0.0", "fuel-plugin-vmware-dvs-3.1.1", "fuel-plugin-xenserver-4.0.0", "midonet-9.2.0", "nsxv-3.0.1"];

let site: Site;
const releases = new Map<string, number>();

/** Copies a plugin with the directories that its metadata names, which the data set lacks, and installs it. */
function install(name: string): void {
  const folder = join(site.folder, name);
  cpSync(join(DATA, "plugins/community", name), folder, { recursive: true });
  const metadata = readFileSync(join(folder, "metadata.yaml"), "utf8");
  for (const [, path] of metadata.matchAll(/_path: *['"]?([\w/.-]+)/g)) mkdirSync(join(folder, path ?? ""), { recursive: true });
  site.command("plugin", "install", folder, "--quiet");
}

beforeAll(async () => {
  if (FILES.length === 0) return;
  site = await Site.start();
  for (const file of FILES) {
    const release = await site.call<{ id: number }>("POST", "releases", readFileSync(join(DATA, "releases", file), "utf8"));
    await site.call("PUT", `releases/${release.id}`, { state: "available" });
    releases.set(file, release.id);
  }
  for (const plugin of PLUGINS) install(plugin);
}, 120_000);
afterAll(() => site?.stop());

function summary(page: Page) {
  return page.getByRole("complementary", { name: "Summary" });
}

/** Waits until the server has evaluated the last answer. */
async function settled(page: Page): Promise<void> {
  await page.locator('form[aria-label="New cluster"][aria-busy="false"]').waitFor();
}

async function openWizard(page: Page, release: number, name: string): Promise<void> {
  await page.goto(`/clusters/new?release=${release}`);
  await page.getByRole("textbox", { name: "Name" }).fill(name);
  await settled(page);
}

/** Creates the cluster and checks that its page shows the selected components. */
async function create(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: "Create cluster" }).click();
  await page.getByRole("heading", { name }).waitFor();
  const id = Number(new URL(page.url()).pathname.split("/")[2]);
  const { components } = await site.call<{ components: string[] }>("GET", `clusters/${id}`);
  for (const component of components) await page.getByText(component).first().waitFor();
}

describe.skipIf(FILES.length === 0)("real releases", () => {
  test.each(FILES)("every choice of %s is possible or disabled with a reason", { timeout: 120_000 }, async (file) => {
    const page = await site.open("/clusters");
    const release = releases.get(file) ?? 0;
    await openWizard(page, release, `walk ${file}`);
    const inputs = page.locator("form section:not([aria-labelledby=pane-name]) input:is([type=checkbox], [type=radio])");
    const count = await inputs.count();
    expect(count).toBeGreaterThan(5);
    expect(await page.getByRole("form", { name: "New cluster" }).innerText()).not.toContain("dialog.");
    for (let index = 0; index < count; index += 1) {
      const input = inputs.nth(index);
      if (await input.isDisabled()) {
        // The reason is below the label, or below the control of which the choice is an option.
        const text = await input.locator("xpath=ancestor::*[contains(@class, 'field')][1]").innerText();
        expect(text.split("\n").length, text).toBeGreaterThan(1);
        continue;
      }
      const wasChecked = await input.isChecked();
      await input.click();
      await settled(page);
      if ((await input.getAttribute("type")) === "checkbox") expect(await input.isChecked()).toBe(!wasChecked);
      else expect(await input.isChecked()).toBe(true);
    }
    await openWizard(page, release, `walk ${file}`);
    await create(page, `walk ${file}`);
    expect(page.consoleErrors).toEqual([]);
    await page.context().close();
  });

  test("conflicting components are disabled with the reason, and the cluster has the selection", { timeout: 120_000 }, async () => {
    const page = await site.open("/clusters");
    await openWizard(page, releases.get("newton-10.0-ubuntu.yaml") ?? 0, "tunnels");
    await saveScreenshot(page, "wizard-generated");
    await page.getByRole("radio", { name: /tunneling/ }).check();
    await page.getByText("Ironic is not compatible with Neutron with tunneling segmentation").waitFor();
    expect(await page.getByRole("checkbox", { name: /^Ironic/ }).isDisabled()).toBe(true);
    await page.getByRole("radio", { name: /^Ceph \(block\)/ }).check();
    await page.getByRole("checkbox", { name: /^Sahara/ }).check();
    await settled(page);
    await page.evaluate(() => document.querySelector("main")?.scrollTo(0, 600));
    await saveScreenshot(page, "wizard-generated-conflict");
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("checkbox", { name: /^QEMU-KVM/ }).uncheck();
    await summary(page).getByText("a component of type `hypervisor` must be selected").waitFor();
    expect(await page.getByRole("button", { name: "Create cluster" }).isDisabled()).toBe(true);
    await page.getByRole("checkbox", { name: /^QEMU-KVM/ }).check();
    await settled(page);
    await create(page, "tunnels");
    await page.getByText("network:neutron:ml2:tun").first().waitFor();
    await page.getByText("storage:block:ceph").first().waitFor();
    await page.context().close();
  });

  test("component of a plugin enables the plugin", { timeout: 120_000 }, async () => {
    const page = await site.open("/clusters");
    await openWizard(page, releases.get("mitaka-9.0-ubuntu.yaml") ?? 0, "dvs");
    await page.getByRole("checkbox", { name: /^Neutron with VMware DVS/ }).and(page.locator(":disabled")).waitFor();
    await page.getByText("The VMware DVS plugin requires vCenter as the hypervisor option.").first().waitFor();
    await page.getByRole("checkbox", { name: /^vCenter/ }).check();
    await page.getByRole("checkbox", { name: /^Neutron with VMware DVS/ }).check();
    await settled(page);
    await saveScreenshot(page, "wizard-plugin");
    await summary(page).getByText("fuel-plugin-vmware-dvs").waitFor();
    // Name and answers survive a change of the release.
    await page.getByRole("combobox", { name: "Release" }).selectOption(String(releases.get("newton-10.0-ubuntu.yaml")));
    await settled(page);
    expect(await page.getByRole("textbox", { name: "Name" }).inputValue()).toBe("dvs");
    await page.getByRole("combobox", { name: "Release" }).selectOption(String(releases.get("mitaka-9.0-ubuntu.yaml")));
    await settled(page);
    expect(await page.getByRole("checkbox", { name: /^Neutron with VMware DVS/ }).isChecked()).toBe(true);
    await create(page, "dvs");
    await page.getByRole("link", { name: "Plugins" }).click();
    expect(await page.getByRole("checkbox", { name: /^Enable .*DVS/i }).isChecked()).toBe(true);
    await page.context().close();
  });
});
