import { afterAll, beforeAll, expect, test } from "vitest";
import { createShop, Site } from "./kit";

let site: Site;
let cluster: number;
beforeAll(async () => {
  site = await Site.start();
  cluster = (await createShop(site)).cluster;
});
afterAll(() => site?.stop());

test("invalid graph is reported with line numbers while it is edited, and cannot be saved", async () => {
  const page = await site.open(`/clusters/${cluster}/graphs/mine/edit`);
  const editor = page.getByRole("textbox", { name: /Tasks of graph mine/ });
  await editor.fill("- id: a\n  type: shel\n- id: b\n  type: shell\n  condition: {yaql_exp: '$.a +'}\n");
  const alert = page.getByRole("alert");
  await alert.getByText("line 2").waitFor();
  await alert.getByText("did you mean shell?").waitFor();
  await alert.getByText("line 5").waitFor();
  expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
  expect(await site.call<unknown[]>("GET", `clusters/${cluster}/deployment_tasks/own?graph_type=mine`)).toEqual([]);
  await editor.fill("- id: a\n  type: shell\n  roles: ['*']\n  parameters: {cmd: 'true'}\n");
  await page.getByText("No problems.").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("button", { name: "Task a" }).waitFor();
  expect(page.consoleErrors).toEqual([]);
});

test("editor shows attributes of the layer without defaults", async () => {
  const page = await site.open(`/clusters/${cluster}/graphs/default/edit`);
  const editor = page.getByRole("textbox", { name: /Tasks of graph default/ });
  await page.waitForFunction(() => document.querySelector("textarea")?.value.includes("install-shop"));
  expect(await editor.inputValue()).not.toContain("version");
  await editor.press("ControlOrMeta+End");
  await editor.pressSequentially("# mine");
  await page.getByText("No problems.").waitFor();
});

test("function names are completed in expressions", async () => {
  const page = await site.open(`/clusters/${cluster}/graphs/other/edit`);
  const editor = page.getByRole("textbox", { name: /Tasks of graph other/ });
  await editor.fill("- id: a\n  type: shell\n  condition: {yaql_exp: 'changedA");
  await editor.press("End");
  await page.getByRole("group", { name: "Matching functions" }).getByRole("button", { name: "changedAll" }).waitFor();
  await editor.press("Tab");
  expect(await editor.inputValue()).toContain("changedAll");
});

test("task shows the provenance of its attributes, and layers can be compared", async () => {
  const page = await site.open(`/clusters/${cluster}/graphs/default`);
  await page.getByRole("button", { name: "Task install-shop" }).click();
  const panel = page.getByRole("complementary", { name: "install-shop" });
  await panel.getByText("plugins monitoring 1.0.0").first().waitFor();
  await page.getByRole("tab", { name: "Layer comparison" }).click();
  await page.getByRole("article", { name: "install-agent" }).getByText("added").waitFor();
  await page.getByRole("tab", { name: "Table" }).click();
  await page.getByRole("table", { name: "Tasks" }).getByRole("button", { name: "deploy_end" }).waitFor();
});

test("graph is compared with its version in a plan", async () => {
  const task = { id: "changes", type: "shell", version: "2.1.0", roles: ["*"], parameters: { cmd: "echo one", timeout: 5 } };
  await site.call("PUT", `clusters/${cluster}/deployment_tasks?graph_type=versions`, [task]);
  const plan = await site.call<{ id: number }>("POST", `clusters/${cluster}/plans`, { graph_type: "versions" });
  await site.call("PUT", `clusters/${cluster}/deployment_tasks?graph_type=versions`, [{ ...task, parameters: { timeout: 5, cmd: "echo two" } }, { id: "fresh", type: "stage" }]);
  const page = await site.open(`/clusters/${cluster}/graphs/versions`);
  await page.getByRole("tab", { name: "Layer comparison" }).click();
  await page.getByLabel("From").selectOption(`plan:${plan.id}`);
  await page.getByRole("article", { name: "fresh" }).getByText("added").waitFor();
  await page.getByRole("article", { name: "changes" }).getByText("echo one").waitFor();
  await page.getByText("2 tasks differ").waitFor();
  expect(page.url()).toContain(`plan%3A${plan.id}`);
  expect(page.consoleErrors).toEqual([]);
});

test("graph of two hundred tasks is laid out in less than a second, and its groups expand", async () => {
  const stages = ["deploy_start", "deploy_end"].map((id) => ({ id, type: "stage" }));
  const tasks = Array.from({ length: 204 }, (_, n) => ({
    id: `task-${n}`,
    type: "shell",
    version: "2.1.0",
    roles: ["*"],
    requires: n < 8 ? ["deploy_start"] : [`task-${n - 8 + (n % 3)}`, `task-${Math.floor(n / 2)}`],
    required_for: ["deploy_end"],
    parameters: { cmd: "true" },
  }));
  await site.call("PUT", `clusters/${cluster}/deployment_tasks?graph_type=large`, [...stages, ...tasks]);
  const page = await site.open(`/clusters/${cluster}/graphs/large`);
  await page.getByRole("button", { name: /^Group deploy, 206 tasks, collapsed/ }).waitFor();
  await page.getByRole("button", { name: "Expand all" }).click();
  await page.getByRole("button", { name: "Task task-203" }).waitFor();
  const ms = Number(await page.locator(".graphview").getAttribute("data-layout-ms"));
  expect(ms).toBeLessThan(1000);
  await page.getByRole("searchbox", { name: "Search tasks" }).fill("task-150");
  await page.locator(".node.match").first().waitFor();
  expect(page.consoleErrors).toEqual([]);
});
