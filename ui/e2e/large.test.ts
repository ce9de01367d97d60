// Performance of the views with a thousand nodes and two hundred tasks.
import { afterAll, beforeAll, expect, test } from "vitest";
import { Site } from "./kit";

const N_NODES = 1000;
const N_TASKS = 200;
let site: Site;
let plan: number;
beforeAll(async () => {
  site = await Site.start();
  const roles_metadata = { worker: { name: "Worker", description: "Worker node" } };
  const release = (await site.call<{ id: number }>("POST", "releases", { name: "Fleet", version: "1.0-10.0", operating_system: "Ubuntu", state: "available", roles_metadata })).id;
  const cluster = (await site.call<{ id: number }>("POST", "clusters", { name: "fleet", release_id: release })).id;
  const hex = (n: number) => n.toString(16).padStart(2, "0");
  const nodes = Array.from({ length: N_NODES }, (_, n) => ({ mac: `52:54:02:00:${hex(n >> 8)}:${hex(n & 255)}`, status: "discover", name: `n${n}` }));
  const ids: number[] = [];
  for (let start = 0; start < N_NODES; start += 50) {
    const created = await Promise.all(nodes.slice(start, start + 50).map((node) => site.call<{ id: number }>("POST", "nodes", node)));
    ids.push(...created.map((node) => node.id));
  }
  await site.call("POST", `clusters/${cluster}/assignment`, ids.map((id) => ({ id, roles: ["worker"] })));
  const tasks = Array.from({ length: N_TASKS }, (_, n) => ({
    id: `task-${n}`,
    type: "shell",
    version: "2.1.0",
    roles: ["worker"],
    requires: n === 0 ? [] : [`task-${n - 1}`],
    parameters: { cmd: "true" },
  }));
  await site.call("PUT", `clusters/${cluster}/deployment_tasks`, tasks);
  plan = (await site.call<{ id: number }>("POST", `clusters/${cluster}/plans`, {})).id;
}, 240_000);
afterAll(() => site?.stop());

test("matrix of a large plan opens and scrolls smoothly", { timeout: 120_000 }, async () => {
  const page = await site.open("/clusters");
  await page.getByRole("article", { name: "Cluster fleet" }).waitFor();
  const requestedUrls: string[] = [];
  page.on("request", (request) => requestedUrls.push(request.url()));
  await page.goto(`/plans/${plan}?view=matrix`);
  await page.getByText(`${N_TASKS} tasks × 1,000 nodes`).waitFor();
  await page.getByRole("gridcell", { name: /^task-0 on n\d+: runs/ }).first().waitFor();
  const frames = await page.getByRole("grid").evaluate(async (grid) => {
    const box = grid.closest<HTMLElement>(".matrix") ?? (grid as HTMLElement);
    const median = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Infinity;
    const frame = async (draw: () => void) => {
      const start = performance.now();
      draw();
      await new Promise(requestAnimationFrame);
      // A second frame: the first callback runs before the drawing is laid out and painted.
      await new Promise(requestAnimationFrame);
      return performance.now() - start;
    };
    // The reference draws as many plain cells as the matrix shows. The two alternate, so that a busy machine slows both.
    const reference = document.body.appendChild(document.createElement("div"));
    reference.style.cssText = "position: fixed; inset: 0; overflow: hidden; display: grid; grid-template-columns: repeat(40, 28px)";
    const cells = grid.querySelectorAll("[role=gridcell]").length;
    const scroll: number[] = [];
    const redraw: number[] = [];
    for (let step = 1; step <= 60; step += 1) {
      redraw.push(await frame(() => (reference.innerHTML = `<div title="step ${step}">${step}</div>`.repeat(cells))));
      reference.replaceChildren();
      scroll.push(await frame(() => box.scrollTo(step * 210, step * 60)));
    }
    reference.remove();
    return { cells, scroll: median(scroll), redraw: median(redraw) };
  });
  // A scroll step takes 0.45 of the reference: rows that stay visible are not drawn again.
  expect(frames.scroll / frames.redraw, JSON.stringify(frames)).toBeLessThan(1.5);
  expect(await page.getByRole("gridcell").count()).toBeLessThan(6000);
  // The last row and column are rendered after scrolling to the end.
  await page.getByRole("grid").evaluate((grid) => (grid.closest<HTMLElement>(".matrix") ?? (grid as HTMLElement)).scrollTo(1e6, 1e6));
  await page.getByRole("gridcell", { name: new RegExp(`^task-${N_TASKS - 1} on n\\d+: runs`) }).last().waitFor();
  // Only nodes that are named beside the matrix are fetched, by ID; never the whole list.
  const lists = requestedUrls.map((url) => new URL(url)).filter((url) => url.pathname === "/api/v1/nodes");
  expect(lists.filter((url) => !url.searchParams.has("ids")).map(String)).toEqual([]);
  expect(page.consoleErrors).toEqual([]);
});

test("node picker searches a thousand nodes", async () => {
  const page = await site.open("/yaql");
  await page.getByLabel("Input").selectOption({ label: "fleet" });
  await page.getByRole("searchbox", { name: "Search for node" }).fill("n777");
  await page.getByRole("combobox", { name: "Node" }).selectOption({ label: "n777" });
  await page.getByRole("textbox", { name: "Expression" }).fill("$.roles");
  await page.getByRole("button", { name: "Evaluate" }).click();
  await page.getByTestId("result").getByText("worker").waitFor();
  expect(await page.getByRole("combobox", { name: "Node" }).locator("option").count()).toBeLessThan(10);
});
