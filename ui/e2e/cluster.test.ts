import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessibilityViolations, createShop, saveScreenshot, Site } from "./kit";

let site: Site;
let cluster: number;
beforeAll(async () => {
  site = await Site.start();
  cluster = (await createShop(site)).cluster;
  for (const n of [6, 7, 8]) await site.call("POST", "nodes", { mac: `52:54:00:00:00:0${n}`, status: "discover", name: `spare-${n}`, labels: { rack: String(n) } });
});
afterAll(() => site?.stop());

test("nodes are filtered, get roles in bulk and are removed from the cluster", async () => {
  const page = await site.open(`/clusters/${cluster}/nodes?show=free`);
  await page.getByRole("checkbox", { name: "Select all listed nodes" }).check();
  await page.getByRole("button", { name: "Add to cluster…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Roles of 3 nodes in shop").waitFor();
  await dialog.getByRole("checkbox", { name: /Web/ }).check();
  await dialog.getByRole("button", { name: "Assign web" }).click();
  await page.getByText("No unassigned nodes").waitFor();
  await page.getByLabel("Nodes to list").selectOption("own");
  await page.getByRole("searchbox", { name: "Search nodes" }).fill("spare");
  await page.getByLabel("Label").selectOption("rack=7");
  await page.getByText("1 node of 8").waitFor();
  expect(page.url()).toContain("label=rack%3D7");
  await page.getByRole("checkbox", { name: "Select all listed nodes" }).check();
  await page.getByRole("button", { name: "Replace machine…" }).click();
  await page.getByRole("button", { name: "Replace 1 machine" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByRole("checkbox", { name: "Select all listed nodes" }).check();
  await page.getByRole("button", { name: "Remove from cluster…" }).click();
  await page.getByRole("button", { name: "Remove 1 node" }).click();
  await page.getByText("0 nodes of 7").waitFor();
  expect(page.consoleErrors).toEqual([]);
});

test("list of a thousand nodes is fetched in pages and searched by the server", { timeout: 120_000 }, async () => {
  const body = Array.from({ length: 1000 }, (_, n) => ({ mac: `52:54:01:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`, status: "discover", name: `fleet-${n}`, labels: { rack: `r${n % 40}` } }));
  for (let start = 0; start < body.length; start += 50) await Promise.all(body.slice(start, start + 50).map((node) => site.call("POST", "nodes", node)));
  const page = await site.open(`/clusters/${cluster}/nodes?show=free`);
  const requestedUrls: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/api/v1/nodes?")) requestedUrls.push(request.url());
  });
  await page.reload();
  await page.getByText("fleet-0", { exact: true }).waitFor();
  await page.getByText(/^1,0\d\d nodes/).waitFor();
  expect(requestedUrls.length).toBeLessThanOrEqual(3);
  expect(requestedUrls.every((url) => url.includes("limit=100"))).toBe(true);
  expect(await page.getByRole("row").count()).toBeLessThan(80);
  // Scrolling to the end fetches the last page without the pages before it.
  await page.locator(".tablewrap").evaluate((wrap) => wrap.scrollTo(0, wrap.scrollHeight));
  await page.getByText(/^fleet-9[5-9]\d$/).first().waitFor();
  await page.getByRole("searchbox", { name: "Search nodes" }).fill("fleet-77 rack=r37");
  await page.getByText("fleet-77", { exact: true }).waitFor();
  await page.getByText(/^1 node of 1,0\d\d/).waitFor();
  expect(page.consoleErrors).toEqual([]);
});

test("overview shows links of the cluster and its plugins", async () => {
  const [plugin] = await site.call<{ id: number }[]>("GET", "plugins");
  await site.call("POST", `plugins/${plugin?.id}/links`, { title: "Dashboards", url: "https://grafana.example/", description: "Machine metrics" });
  await site.call("POST", `clusters/${cluster}/plugin_links`, { title: "The shop", url: "/shop/" });
  await site.call("POST", `clusters/${cluster}/plugin_links`, { title: "Not shown", url: "/hidden/", hidden: true });
  const page = await site.open(`/clusters/${cluster}`);
  const links = page.getByRole("region", { name: "Links" });
  await links.getByRole("link", { name: "The shop" }).waitFor();
  expect(await links.getByRole("link", { name: "Dashboards" }).getAttribute("href")).toBe("https://grafana.example/");
  expect(await links.getByText("Not shown").count()).toBe(0);
  expect(page.consoleErrors).toEqual([]);
});

test("changed setting is saved and survives a reload", async () => {
  const page = await site.open(`/clusters/${cluster}/settings`);
  await page.getByRole("checkbox", { name: /Debug/ }).check();
  await page.getByText("1 unsaved change").waitFor();
  await page.getByRole("button", { name: "Save settings" }).click();
  await page.getByText("1 unsaved change").waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("checkbox", { name: /Debug/ }).waitFor();
  expect(await page.getByRole("checkbox", { name: /Debug/ }).isChecked()).toBe(true);
  expect(page.consoleErrors).toEqual([]);
});

test("plugin is disabled and enabled", async () => {
  const page = await site.open(`/clusters/${cluster}/plugins`);
  const box = page.getByRole("checkbox", { name: "Enable Monitoring" });
  await box.click();
  await page.getByText("disabled").waitFor();
  await box.click();
  await page.getByText("enabled", { exact: true }).waitFor();
  expect(page.consoleErrors).toEqual([]);
});

test("expression is evaluated over a node, and a syntax error is marked with a caret", async () => {
  const page = await site.open("/yaql");
  await page.getByLabel("Input").selectOption({ label: "shop" });
  await page.getByLabel("Node").selectOption({ label: "shop-1" });
  await page.getByRole("textbox", { name: "Expression" }).fill("$.settings.common.debug.value");
  await page.getByRole("button", { name: "Evaluate" }).click();
  await page.getByTestId("result").getByText("true").waitFor();
  await page.getByRole("textbox", { name: "Expression" }).fill("$.uid +");
  await page.getByRole("textbox", { name: "Expression" }).press("ControlOrMeta+Enter");
  await page.locator(".problem").getByText("^").waitFor();
  expect(page.consoleErrors).toEqual([]);
});

test("user is created, gets another role and is deleted; the audit log records it", async () => {
  const page = await site.open("/admin/users");
  const form = page.getByRole("form", { name: "New user" });
  await form.getByLabel("Name").fill("ada");
  await form.getByLabel("Password").fill("difference engine");
  await form.getByRole("button", { name: "Create user" }).click();
  await page.getByLabel("Role of ada").selectOption("viewer");
  await form.getByLabel("Name").fill("ada");
  await form.getByLabel("Password").fill("again");
  await form.getByRole("button", { name: "Create user" }).click();
  await form.getByRole("alert").waitFor();
  await page.getByRole("button", { name: "Delete ada" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete ada" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByLabel("Role of ada").waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Audit log" }).click();
  await page.getByText("user.delete").waitFor();
  expect(page.consoleErrors).toEqual([]);
});

test("release is changed after a preview, and changed back", async () => {
  const shop = readFileSync(new URL("../../examples/demo/release.yaml", import.meta.url), "utf8");
  const next = shop
    .replace("name: Shop", "name: Shop Next")
    .replace("echo the database is installed", "echo the next database is installed")
    .replace("label: Debug}", "label: Debug}\n      size: {value: 3, type: number, label: Size}")
    .replace("  database: {", "  cache: {name: Cache, description: Keeps carts}\n  database: {");
  await site.call("POST", "releases", next);
  await site.call("POST", "releases", shop.replace("version: 1.0-10.0", "version: 9.0-11.0"));
  const page = await site.open(`/clusters/${cluster}`);
  const details = page.getByRole("region", { name: "Details" });
  const dialog = page.getByRole("dialog");
  const change = dialog.getByRole("button", { name: "Change release" });
  const release = dialog.getByRole("combobox", { name: "New release" });
  const preview = dialog.getByRole("group", { name: "Preview" });
  const open = async (label: string) => {
    await details.getByRole("button", { name: "Change release…" }).click();
    await release.selectOption({ label });
    await preview.waitFor();
  };

  // No version of the enabled plugin fits this release.
  await open("Shop 9.0-11.0 (Ubuntu)");
  await dialog.getByRole("alert").getByText("is enabled, but neither it nor another installed version supports release").waitFor();
  expect(await change.isDisabled()).toBe(true);

  await release.selectOption({ label: "Shop Next 1.0-10.0 (Ubuntu)" });
  await preview.getByRole("region", { name: "Tasks" }).getByText("install-database parameters").waitFor();
  const size = preview.getByRole("row", { name: /common\.size\.value/ });
  expect(await size.getByRole("cell").allInnerTexts()).toEqual(["common.size.value", "–", "3", "new setting"]);
  expect(await preview.getByRole("region", { name: "Roles" }).innerText()).toContain("Added: cache");
  expect(await preview.getByRole("region", { name: "Plugins" }).innerText()).toContain("monitoring 1.0.0: stays enabled");
  await saveScreenshot(page, "release-light");
  expect(await accessibilityViolations(page)).toEqual([]);

  // A change by another user after the preview refuses the move and refreshes the preview.
  await site.call("PUT", `clusters/${cluster}`, { merge_mode: "replace" });
  await change.click();
  await dialog.getByRole("alert").waitFor();
  await site.call("PUT", `clusters/${cluster}`, { merge_mode: "attributes" });
  await dialog.getByRole("button", { name: "Cancel" }).click();
  expect((await site.call<{ release_id: number }>("GET", `clusters/${cluster}`)).release_id).toBe(1);

  await open("Shop Next 1.0-10.0 (Ubuntu)");
  await change.click();
  await dialog.getByRole("heading", { name: "shop has release Shop Next 1.0-10.0" }).waitFor();
  await dialog.getByRole("button", { name: "Create plan…" }).click();
  await dialog.getByRole("heading", { name: "New plan for shop" }).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await details.getByText("Shop Next 1.0-10.0").waitFor();

  await open("Shop 1.0-10.0 (Ubuntu)");
  await preview.getByRole("region", { name: "Roles" }).getByText("Removed: cache").waitFor();
  await change.click();
  await dialog.getByRole("button", { name: "Close" }).click();
  await details.getByText("Shop 1.0-10.0").waitFor();
  expect(page.consoleErrors).toEqual([]);
});

test("limits of roles are reported when roles are assigned and when a plan is created", async () => {
  const roles_metadata = {
    db: { name: "Database", limits: { max: 1, overrides: [{ condition: "cluster:mode == 'ha_compact'", max: 1, message: "The database is not replicated." }] } },
    web: { name: "Web", limits: { min: 2, recommended: 3 } },
  };
  const deployment_tasks = [{ id: "base", type: "shell", version: "2.1.0", roles: ["web"], parameters: { cmd: "true" } }];
  const release = await site.call<{ id: number }>("POST", "releases", { name: "Limits", version: "1.0-10.0", operating_system: "Ubuntu", state: "available", roles_metadata, deployment_tasks });
  const limited = await site.call<{ id: number }>("POST", "clusters", { name: "limited", release_id: release.id });
  for (const n of [1, 2]) await site.call("POST", "nodes", { mac: `52:54:03:00:00:0${n}`, status: "discover", name: `limit-${n}` });
  const page = await site.open(`/clusters/${limited.id}/nodes?show=free&q=limit-`);
  const dialog = page.getByRole("dialog");
  const assign = async (role: RegExp) => {
    await page.getByRole("button", { name: "Add to cluster…" }).click();
    await dialog.getByRole("checkbox", { name: role }).check();
    await dialog.getByRole("button", { name: /^Assign/ }).click();
  };
  await page.getByRole("checkbox", { name: "Select all listed nodes" }).check();
  await assign(/Database/);
  await dialog.getByRole("alert").getByText("The database is not replicated (role db, maximum 1): 2 nodes have it").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("checkbox", { name: "Select all listed nodes" }).uncheck();
  await page.getByRole("row", { name: /limit-1/ }).getByRole("checkbox").check();
  await assign(/Web/);
  await dialog.getByRole("heading", { name: "Roles assigned with warnings" }).waitFor();
  await dialog.getByText("at least 3 nodes with role").waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();

  await page.getByRole("button", { name: "Create plan…" }).click();
  await dialog.getByRole("button", { name: "Create plan" }).click();
  await dialog.getByRole("alert").getByText("needs at least 2 nodes").waitFor();
  await dialog.getByRole("checkbox", { name: /^Ignore limits of roles/ }).check();
  await dialog.getByRole("button", { name: "Create plan" }).click();
  await page.getByRole("heading", { name: /^Plan #/ }).waitFor();
  await page.getByText("2 warnings").click();
  await page.getByText("needs at least 2 nodes").waitFor();
  expect(page.consoleErrors).toEqual([]);
});
