import { afterAll, beforeAll, expect, test } from "vitest";
import { accessibilityViolations, saveScreenshot, Site } from "./kit";

let site: Site;
let cluster: number;
const nodes: number[] = [];

/** A cluster whose only task renders a setting into its command. */
beforeAll(async () => {
  site = await Site.start();
  const release = {
    name: "title",
    version: "1.0-10.0",
    operating_system: "ubuntu",
    state: "available",
    roles_metadata: { web: { name: "Web", description: "Web" } },
    attributes_metadata: { editable: { common: { title: { value: "first", type: "text", label: "Title", weight: 1 } } } },
  };
  const id = (await site.call<{ id: number }>("POST", "releases", release)).id;
  cluster = (await site.call<{ id: number }>("POST", "clusters", { name: "titles", release_id: id })).id;
  for (let n = 1; n <= 2; n += 1) nodes.push((await site.call<{ id: number }>("POST", "nodes", { mac: `52:54:00:00:00:0${n}`, status: "discover", name: `web-${n}` })).id);
  await site.call("POST", `clusters/${cluster}/assignment`, nodes.map((node) => ({ id: node, roles: ["web"] })));
  const cmd = { yaql_exp: "concat('echo ', $.settings.common.title.value)" };
  const task = { id: "title", type: "shell", version: "3.0.0", roles: ["web"], parameters: { cmd } };
  await site.call("PUT", `clusters/${cluster}/deployment_tasks`, [task]);
  await site.user("petra", "planner");
});
afterAll(() => site?.stop());

async function createPlan(): Promise<number> {
  return (await site.call<{ id: number }>("POST", `clusters/${cluster}/plans`, {})).id;
}

async function applyPlan(plan: number): Promise<number> {
  const run = (await site.call<{ id: number }>("POST", `plans/${plan}/apply`, {})).id;
  for (;;) {
    const { run: state } = await site.call<{ run: { status: string } }>("GET", `runs/${run}`);
    if (state.status === "ready" || state.status === "error") return run;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test("plan shows old and new inputs, and says when there are no changes", async () => {
  await applyPlan(await createPlan());
  const page = await site.open(`/plans/${await createPlan()}`);
  await page.getByText("No changes: 2 nodes match their configuration").waitFor();
  await page.getByText(/^Last applied/).waitFor();
  await site.call("PUT", `clusters/${cluster}/attributes`, { editable: { common: { title: { value: "second" } } } });
  await page.goto(`/plans/${await createPlan()}`);
  const group = page.getByRole("article", { name: "Changes of title" });
  await group.getByText("on web-1, web-2").waitFor();
  await group.getByText("− echo first").waitFor();
  await group.getByText("+ echo second").waitFor();
  expect(page.consoleErrors).toEqual([]);
});

test("handlers that run only if triggered are counted and marked", async () => {
  const shell = { type: "shell", version: "3.0.0", roles: ["web"] };
  const tasks = [
    { ...shell, id: "config", parameters: { cmd: "echo config" } },
    { ...shell, id: "reload", refresh_on: ["config"], parameters: { cmd: "echo reload" } },
  ];
  await site.call("PUT", `clusters/${cluster}/deployment_tasks?graph_type=handlers`, tasks);
  const plan = await site.call<{ id: number }>("POST", `clusters/${cluster}/plans`, { graph_type: "handlers" });
  const page = await site.open(`/plans/${plan.id}`);
  await page.getByText("to run (2 of them only if triggered)").waitFor();
  await page.getByRole("tab", { name: "Matrix" }).click();
  expect(await page.getByLabel("Legend").locator(".status").allInnerTexts()).toEqual(["○\nruns", "◎\nonly if triggered", "–\nskipped"]);
  await page.getByRole("gridcell", { name: "config on web-1: runs" }).waitFor();
  await page.getByRole("gridcell", { name: "reload on web-1: only if triggered" }).click();
  const panel = page.getByRole("complementary", { name: "reload on web-1" });
  await panel.getByText("only if triggered").waitFor();
  await saveScreenshot(page, "plan-handlers");
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("button", { name: "Apply plan…" }).click();
  await page.getByRole("dialog").getByText("4 task instances will run (2 of them only if triggered)").waitFor();
  expect(page.consoleErrors).toEqual([]);
});

test("planner creates a plan and sees why it cannot be applied", async () => {
  const page = await site.open(`/clusters/${cluster}`, "petra");
  await page.getByRole("button", { name: "Create plan…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create plan" }).click();
  await page.getByRole("heading", { name: /^Plan #/ }).waitFor();
  await page.getByText("Applying requires the operator role").waitFor();
  expect(await page.getByRole("button", { name: "Apply plan…" }).isDisabled()).toBe(true);
  expect(page.consoleErrors).toEqual([]);
});

test("run without offline nodes is partial", async () => {
  await site.call("PUT", `nodes/${nodes[1]}`, { online: false });
  const run = await applyPlan(await createPlan());
  const page = await site.open(`/runs/${run}`);
  await page.locator(".pagehead").getByText("partial").waitFor();
  await page.getByRole("status").getByText("is offline and was left out of the run").waitFor();
  await page.goto("/runs");
  await page.getByRole("row").filter({ hasText: `#${run}` }).getByText("partial").waitFor();
  await page.goto(`/plans/${await createPlan()}`);
  await page.getByText("No changes on 1 node; web-2 is offline and was not planned").waitFor();
  expect(page.consoleErrors).toEqual([]);
});
