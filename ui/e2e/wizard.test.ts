import { afterAll, beforeAll, expect, test } from "vitest";
import { accessibilityViolations, saveScreenshot, Site } from "./kit";

let site: Site;
beforeAll(async () => {
  site = await Site.start();
  await site.call("POST", "releases", {
    name: "Cloud",
    version: "1.0-10.0",
    operating_system: "Ubuntu",
    state: "available",
    roles_metadata: { web: { name: "Web", description: "Web server" } },
    attributes_metadata: { editable: { common: { vcenter: { value: false, type: "checkbox", label: "vCenter" } } }, generated: {} },
    components_metadata: [
      { name: "hypervisor:core:kvm", label: "KVM" },
      { name: "hypervisor:vmware", label: "vCenter", bind: ["settings:common.vcenter.value"] },
      { name: "network:ml2:vlan", label: "VLAN" },
    ],
    wizard_metadata: {
      Compute: {
        kvm: { type: "checkbox", value: true, label: "KVM", component: "hypervisor:core:kvm" },
        vcenter: { type: "checkbox", label: "vCenter", component: "hypervisor:vmware" },
      },
      Network: { manager: { type: "radio", label: "Network manager", values: [{ data: "vlan", label: "VLAN", component: "network:ml2:vlan" }] } },
    },
  });
  await site.call("POST", "plugins", {
    name: "gridnet",
    title: "GridNet",
    version: "1.0.0",
    package_version: "4.0.0",
    fuel_version: ["10.0"],
    releases: [{ os: "ubuntu", version: "1.0-10.0", mode: ["ha"] }],
    provides: [{ name: "networking:core", label: "GridNet", compatible_hypervisors: ["core"] }],
    wizard_metadata: { Network: { manager: { values: [{ data: "gridnet", label: "GridNet" }] } } },
    tasks: [{ type: "shell", role: "*", stage: "pre_deployment/4000", parameters: { cmd: "./up.sh", timeout: 60 } }],
  });
});
afterAll(() => site?.stop());

test("conflicting option is disabled with its reason, and the cluster has the selected components", async () => {
  const page = await site.open("/clusters/new");
  await page.getByRole("textbox", { name: "Name" }).fill("grid");
  await page.getByRole("radio", { name: /GridNet/ }).check();
  await page.getByRole("checkbox", { name: /vCenter/ }).check();
  await page.getByText("GridNet is not compatible with vCenter").first().waitFor();
  expect(await page.getByRole("radio", { name: /GridNet/ }).isDisabled()).toBe(true);
  await saveScreenshot(page, "wizard-light");
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("checkbox", { name: /vCenter/ }).uncheck();
  await page.getByRole("radio", { name: /GridNet/ }).check();
  await page.getByRole("button", { name: "Compatibility matrix" }).click();
  await page.getByRole("table", { name: "Compatibility" }).waitFor();
  await saveScreenshot(page, "compatibility-light");
  await page.getByRole("complementary", { name: "Summary" }).getByText("gridnet").first().waitFor();
  await page.getByRole("button", { name: "Create cluster" }).click();
  await page.getByRole("heading", { name: "grid" }).waitFor();
  await page.getByText("network:core:gridnet").waitFor();
  await page.getByRole("link", { name: "Plugins" }).click();
  expect(await page.getByRole("checkbox", { name: "Enable GridNet" }).isChecked()).toBe(true);
  await page.getByRole("table", { name: "Order of stage tasks" }).getByText("pre_deployment/4000").waitFor();
  expect(page.consoleErrors).toEqual([]);
});

test("duplicate cluster name is reported in the wizard", async () => {
  const page = await site.open("/clusters/new");
  await page.getByRole("textbox", { name: "Name" }).fill("grid");
  await page.getByRole("button", { name: "Create cluster" }).click();
  await page.getByRole("alert").getByText(/Cluster not created/).waitFor();
  expect(new URL(page.url()).pathname).toBe("/clusters/new");
});
