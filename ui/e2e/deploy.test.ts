import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessibilityViolations, createShop, saveScreenshot, Site } from "./kit";

let site: Site;
let cluster: number;
beforeAll(async () => {
  site = await Site.start();
  cluster = (await createShop(site)).cluster;
});
afterAll(() => site?.stop());

test("plan is created, shows reasons, and its run is followed to the end", async () => {
  const page = await site.open(`/clusters/${cluster}`);
  await page.getByRole("button", { name: "Create plan…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Create plan" }).click();
  await page.getByRole("heading", { name: /^Plan #/ }).waitFor();
  await page.getByRole("tab", { name: "Matrix" }).click();
  await page.getByRole("gridcell", { name: "install-shop on shop-2: runs" }).click();
  const panel = page.getByRole("complementary", { name: "install-shop on shop-2" });
  await panel.getByText("has never succeeded on this node").waitFor();
  expect(page.url()).toContain("task=install-shop");
  await page.getByRole("button", { name: "Apply plan…" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(/\d+ task instances will run/).waitFor();
  await dialog.getByRole("button", { name: "Apply plan" }).click();
  await page.getByRole("heading", { name: /^Run #/ }).waitFor();
  await page.getByRole("gridcell", { name: "install-shop on shop-5: success" }).waitFor();
  await page.locator(".pagehead .status-success").waitFor();
  await page.getByRole("tab", { name: "Timeline" }).click();
  await page.getByRole("figure", { name: /Timeline/ }).getByText("shop-5", { exact: true }).waitFor();
  await page.getByRole("tab", { name: "Graph" }).click();
  await page.getByRole("button", { name: "Task install-shop" }).waitFor();
  expect(page.consoleErrors).toEqual([]);
});

test("failed task shows its output and is retried", async () => {
  const mark = join(site.folder, "mark");
  const tasks = [
    { id: "needs-mark", type: "shell", version: "2.1.0", roles: ["web"], parameters: { cmd: `echo looking for it; test -f ${mark}`, retries: 0 } },
    { id: "after-mark", type: "shell", version: "2.1.0", roles: ["web"], requires: ["needs-mark"], parameters: { cmd: "echo found" } },
  ];
  await site.call("PUT", `clusters/${cluster}/deployment_tasks?graph_type=marked`, tasks);
  const plan = await site.call<{ id: number }>("POST", `clusters/${cluster}/plans`, { graph_type: "marked" });
  const page = await site.open(`/plans/${plan.id}`);
  await page.getByRole("button", { name: "Apply plan…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Apply plan" }).click();
  await page.locator(".pagehead .status-failed").waitFor();
  await page.getByRole("gridcell", { name: "after-mark on shop-2: blocked" }).waitFor();
  await page.getByRole("region", { name: "Failures" }).getByRole("button", { name: "needs-mark on shop-2" }).click();
  await page.getByRole("log").getByText("looking for it").waitFor();
  writeFileSync(mark, "");
  const failed = page.url();
  await page.getByRole("button", { name: "Retry failed tasks" }).click();
  await page.waitForURL((url) => url.pathname !== new URL(failed).pathname);
  await page.getByRole("gridcell", { name: "after-mark on shop-2: success" }).waitFor();
  await page.locator(".pagehead .status-success").waitFor();
  await page.getByRole("gridcell", { name: "needs-mark on shop-2: success" }).click();
  await page.getByRole("region", { name: "Earlier runs on this node" }).getByText("failed").waitFor();
  const retried = page.url();
  await page.getByRole("button", { name: "Rerun from this task" }).click();
  await page.waitForURL((url) => url.pathname !== new URL(retried).pathname);
  await page.getByRole("gridcell", { name: "after-mark on shop-2: success" }).waitFor();
  // The next test starts a run in the same cluster.
  await page.locator(".pagehead .status-success").waitFor();
  expect(page.consoleErrors).toEqual([]);
});

test("run shows what tasks changed on their nodes", async () => {
  const motd = join(site.folder, "motd");
  const tasks = [{ id: "motd", type: "file", version: "2.1.0", roles: ["database"], parameters: { path: motd, mode: "0644", content: "welcome\nto the shop\n" } }];
  await site.call("PUT", `clusters/${cluster}/deployment_tasks?graph_type=files`, tasks);
  const page = await site.open("/clusters");
  const panel = page.getByRole("complementary", { name: "motd on shop-1" });
  const changes = panel.getByRole("region", { name: "Changes on the node" });
  const apply = async () => {
    const plan = await site.call<{ id: number }>("POST", `clusters/${cluster}/plans`, { graph_type: "files", force: true });
    const run = await site.call<{ id: number }>("POST", `plans/${plan.id}/apply`, {});
    await page.goto(`/runs/${run.id}?task=motd&node=1`);
    await page.locator(".pagehead .status-success").waitFor();
  };
  await apply();
  await panel.getByText("Changed the node").waitFor();
  await changes.getByText("+to the shop").waitFor();
  writeFileSync(motd, "welcome\nto nowhere\n");
  chmodSync(motd, 0o600);
  await apply();
  expect(await changes.locator("pre.diff-del").allInnerTexts()).toContain("-to nowhere");
  expect(await changes.locator("pre.diff-add").allInnerTexts()).toContain("+to the shop");
  await saveScreenshot(page, "run-changes");
  expect(await accessibilityViolations(page)).toEqual([]);
  await apply();
  await panel.getByText("Changed nothing").waitFor();
  expect(await changes.count()).toBe(0);
  expect(page.consoleErrors).toEqual([]);
});

test("run is paused, resumed and stopped", async () => {
  const tasks = [{ id: "slow", type: "shell", version: "2.1.0", roles: ["database"], parameters: { cmd: "echo begun; sleep 300" } }];
  await site.call("PUT", `clusters/${cluster}/deployment_tasks?graph_type=slow`, tasks);
  const plan = await site.call<{ id: number }>("POST", `clusters/${cluster}/plans`, { graph_type: "slow" });
  const run = await site.call<{ id: number }>("POST", `plans/${plan.id}/apply`, {});
  const page = await site.open(`/runs/${run.id}?task=slow&node=1`);
  await page.getByRole("gridcell", { name: "slow on shop-1: running" }).waitFor();
  await page.getByRole("log").getByText("begun").waitFor();
  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor();
  await page.getByRole("button", { name: "Stop…" }).click();
  await page.getByRole("radio", { name: /^Now/ }).check();
  await page.getByRole("button", { name: "Stop now" }).click();
  await page.getByRole("gridcell", { name: "slow on shop-1: stopped" }).waitFor();
  expect(page.consoleErrors).toEqual([]);
});
