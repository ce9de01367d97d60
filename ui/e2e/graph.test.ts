import { afterAll, beforeAll, expect, test } from "vitest";
import { shop, Site } from "./kit";

let site: Site;
let cluster: number;
beforeAll(async () => {
  site = await Site.start();
  cluster = (await shop(site)).cluster;
});
afterAll(() => site?.stop());

test("a broken graph is told with its line while it is written, and is not stored", async () => {
  const page = await site.open(`/clusters/${cluster}/graphs/mine/edit`);
  const editor = page.getByRole("textbox", { name: /Tasks of graph mine/ });
  await editor.fill("- id: a\n  type: shel\n- id: b\n  type: shell\n  condition: {yaql_exp: '$.a +'}\n");
  const alert = page.getByRole("alert");
  await alert.getByText("line 2").waitFor();
  await alert.getByText("did you mean shell?").waitFor();
  await alert.getByText("line 5").waitFor();
  expect(await page.getByRole("button", { name: "Store" }).isDisabled()).toBe(true);
  expect(await site.call<unknown[]>("GET", `clusters/${cluster}/deployment_tasks/own?graph_type=mine`)).toEqual([]);
  await editor.fill("- id: a\n  type: shell\n  roles: ['*']\n  parameters: {cmd: 'true'}\n");
  await page.getByText("No problems found.").waitFor();
  await page.getByRole("button", { name: "Store" }).click();
  await page.getByRole("button", { name: "Task a" }).waitFor();
  expect(page.problems).toEqual([]);
});

test("the editor shows what the layer says and no defaults", async () => {
  const page = await site.open(`/clusters/${cluster}/graphs/default/edit`);
  const editor = page.getByRole("textbox", { name: /Tasks of graph default/ });
  await page.waitForFunction(() => document.querySelector("textarea")?.value.includes("install-shop"));
  expect(await editor.inputValue()).not.toContain("version");
  await editor.press("ControlOrMeta+End");
  await editor.pressSequentially("# mine");
  await page.getByText("No problems found.").waitFor();
});

test("names of functions are completed inside of expressions", async () => {
  const page = await site.open(`/clusters/${cluster}/graphs/other/edit`);
  const editor = page.getByRole("textbox", { name: /Tasks of graph other/ });
  await editor.fill("- id: a\n  type: shell\n  condition: {yaql_exp: 'changedA");
  await editor.press("End");
  await page.getByRole("group", { name: "Functions that fit" }).getByRole("button", { name: "changedAll" }).waitFor();
  await editor.press("Tab");
  expect(await editor.inputValue()).toContain("changedAll");
});

test("a task tells who set what, and layers can be compared", async () => {
  const page = await site.open(`/clusters/${cluster}/graphs/default`);
  await page.getByRole("button", { name: "Task install-shop" }).click();
  const panel = page.getByRole("complementary", { name: "install-shop" });
  await panel.getByText("plugins monitoring 1.0.0").first().waitFor();
  await page.getByRole("tab", { name: "Layers compared" }).click();
  await page.getByRole("article", { name: "install-agent" }).getByText("added").waitFor();
  await page.getByRole("tab", { name: "Table" }).click();
  await page.getByRole("table", { name: "Tasks" }).getByRole("button", { name: "deploy_end" }).waitFor();
});

test("a graph is compared with what it was when a plan was made", async () => {
  const task = { id: "changes", type: "shell", version: "2.1.0", roles: ["*"], parameters: { cmd: "echo one", timeout: 5 } };
  await site.call("PUT", `clusters/${cluster}/deployment_tasks?graph_type=versions`, [task]);
  const plan = await site.call<{ id: number }>("POST", `clusters/${cluster}/plans`, { graph_type: "versions" });
  await site.call("PUT", `clusters/${cluster}/deployment_tasks?graph_type=versions`, [{ ...task, parameters: { timeout: 5, cmd: "echo two" } }, { id: "fresh", type: "stage" }]);
  const page = await site.open(`/clusters/${cluster}/graphs/versions`);
  await page.getByRole("tab", { name: "Layers compared" }).click();
  await page.getByLabel("From").selectOption(`plan:${plan.id}`);
  await page.getByRole("article", { name: "fresh" }).getByText("added").waitFor();
  await page.getByRole("article", { name: "changes" }).getByText("echo one").waitFor();
  await page.getByText("2 tasks differ").waitFor();
  expect(page.url()).toContain(`plan%3A${plan.id}`);
  expect(page.problems).toEqual([]);
});

test("two hundred tasks are laid out in less than a second, fold and unfold", async () => {
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
  await page.getByRole("button", { name: /^deploy: 206 tasks, folded/ }).waitFor();
  await page.getByRole("button", { name: "Unfold all" }).click();
  await page.getByRole("button", { name: "Task task-203" }).waitFor();
  const ms = Number(await page.locator(".graphview").getAttribute("data-layout-ms"));
  expect(ms).toBeLessThan(1000);
  await page.getByRole("searchbox", { name: "Search tasks" }).fill("task-150");
  await page.locator(".node.found").first().waitFor();
  expect(page.problems).toEqual([]);
});
