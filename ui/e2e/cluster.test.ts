import { afterAll, beforeAll, expect, test } from "vitest";
import { shop, Site } from "./kit";

let site: Site;
let cluster: number;
beforeAll(async () => {
  site = await Site.start();
  cluster = (await shop(site)).cluster;
  for (const n of [6, 7, 8]) await site.call("POST", "nodes", { mac: `52:54:00:00:00:0${n}`, status: "discover", name: `spare-${n}`, labels: { rack: String(n) } });
});
afterAll(() => site?.stop());

test("nodes are found, get roles together and leave again", async () => {
  const page = await site.open(`/clusters/${cluster}/nodes?show=free`);
  await page.getByRole("checkbox", { name: "Tick all shown nodes" }).check();
  await page.getByRole("button", { name: "Add to cluster…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Roles of 3 nodes of shop").waitFor();
  await dialog.getByRole("checkbox", { name: /Web/ }).check();
  await dialog.getByRole("button", { name: "Assign web" }).click();
  await page.getByText("No nodes here").waitFor();
  await page.getByLabel("Which nodes").selectOption("own");
  await page.getByRole("searchbox", { name: "Search nodes" }).fill("spare");
  await page.getByLabel("Label").selectOption("rack=7");
  await page.getByText("1 node of 8").waitFor();
  expect(page.url()).toContain("label=rack%3D7");
  await page.getByRole("checkbox", { name: "Tick all shown nodes" }).check();
  await page.getByRole("button", { name: "Take out…" }).click();
  await page.getByRole("button", { name: "Take out 1 node" }).click();
  await page.getByText("0 nodes of 7").waitFor();
  expect(page.problems).toEqual([]);
});

test("a thousand nodes are listed in pages, and the server finds the one that is sought", { timeout: 120_000 }, async () => {
  const body = Array.from({ length: 1000 }, (_, n) => ({ mac: `52:54:01:00:${(n >> 8).toString(16).padStart(2, "0")}:${(n & 255).toString(16).padStart(2, "0")}`, status: "discover", name: `fleet-${n}`, labels: { rack: `r${n % 40}` } }));
  for (let start = 0; start < body.length; start += 50) await Promise.all(body.slice(start, start + 50).map((node) => site.call("POST", "nodes", node)));
  const page = await site.open(`/clusters/${cluster}/nodes?show=free`);
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/api/v1/nodes?")) asked.push(request.url());
  });
  await page.reload();
  await page.getByText("fleet-0", { exact: true }).waitFor();
  await page.getByText(/^1,0\d\d nodes/).waitFor();
  expect(asked.length).toBeLessThanOrEqual(3);
  expect(asked.every((url) => url.includes("limit=100"))).toBe(true);
  expect(await page.getByRole("row").count()).toBeLessThan(80);
  // The end of the list is as near as its beginning.
  await page.locator(".tablewrap").evaluate((wrap) => wrap.scrollTo(0, wrap.scrollHeight));
  await page.getByText(/^fleet-9[5-9]\d$/).first().waitFor();
  await page.getByRole("searchbox", { name: "Search nodes" }).fill("fleet-77 rack=r37");
  await page.getByText("fleet-77", { exact: true }).waitFor();
  await page.getByText(/^1 node of 1,0\d\d/).waitFor();
  expect(page.problems).toEqual([]);
});

test("links of the cluster and of its plugins are shown", async () => {
  const [plugin] = await site.call<{ id: number }[]>("GET", "plugins");
  await site.call("POST", `plugins/${plugin?.id}/links`, { title: "Dashboards", url: "https://grafana.example/", description: "How machines are" });
  await site.call("POST", `clusters/${cluster}/plugin_links`, { title: "The shop", url: "/shop/" });
  await site.call("POST", `clusters/${cluster}/plugin_links`, { title: "Not shown", url: "/hidden/", hidden: true });
  const page = await site.open(`/clusters/${cluster}`);
  const links = page.getByRole("region", { name: "Links" });
  await links.getByRole("link", { name: "The shop" }).waitFor();
  expect(await links.getByRole("link", { name: "Dashboards" }).getAttribute("href")).toBe("https://grafana.example/");
  expect(await links.getByText("Not shown").count()).toBe(0);
  expect(page.problems).toEqual([]);
});

test("a setting is changed, saved, and is there again", async () => {
  const page = await site.open(`/clusters/${cluster}/settings`);
  await page.getByRole("checkbox", { name: /Debug/ }).check();
  await page.getByText("1 change, not saved").waitFor();
  await page.getByRole("button", { name: "Save settings" }).click();
  await page.getByText("1 change, not saved").waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("checkbox", { name: /Debug/ }).waitFor();
  expect(await page.getByRole("checkbox", { name: /Debug/ }).isChecked()).toBe(true);
  expect(page.problems).toEqual([]);
});

test("a plugin is disabled and enabled", async () => {
  const page = await site.open(`/clusters/${cluster}/plugins`);
  const box = page.getByRole("checkbox", { name: "Enable Monitoring" });
  await box.click();
  await page.getByText("disabled").waitFor();
  await box.click();
  await page.getByText("enabled", { exact: true }).waitFor();
  expect(page.problems).toEqual([]);
});

test("an expression is tried out over a node, and a mistake is shown where it is", async () => {
  const page = await site.open("/yaql");
  await page.getByLabel("Over").selectOption({ label: "shop" });
  await page.getByLabel("Node").selectOption({ label: "shop-1" });
  await page.getByRole("textbox", { name: "Expression" }).fill("$.settings.common.debug.value");
  await page.getByRole("button", { name: "Evaluate" }).click();
  await page.getByTestId("result").getByText("true").waitFor();
  await page.getByRole("textbox", { name: "Expression" }).fill("$.uid +");
  await page.getByRole("textbox", { name: "Expression" }).press("ControlOrMeta+Enter");
  await page.locator(".problem").getByText("^").waitFor();
  expect(page.problems).toEqual([]);
});

test("users are made, get another role and are removed; the audit log knows", async () => {
  const page = await site.open("/admin/users");
  const form = page.getByRole("form", { name: "New user" });
  await form.getByLabel("Name").fill("ada");
  await form.getByLabel("Password").fill("difference engine");
  await form.getByRole("button", { name: "Add user" }).click();
  await page.getByLabel("Role of ada").selectOption("viewer");
  await form.getByLabel("Name").fill("ada");
  await form.getByLabel("Password").fill("again");
  await form.getByRole("button", { name: "Add user" }).click();
  await form.getByRole("alert").waitFor();
  await page.getByRole("button", { name: "Remove ada" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove ada" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await page.getByLabel("Role of ada").waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Audit log" }).click();
  await page.getByText("user.delete").waitFor();
  expect(page.problems).toEqual([]);
});
