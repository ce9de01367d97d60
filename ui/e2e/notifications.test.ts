import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createShop, Site } from "./kit";

let site: Site;
beforeAll(async () => {
  site = await Site.start();
  const { cluster } = await createShop(site);
  const plan = await site.call<{ id: number }>("POST", `clusters/${cluster}/plans`, {});
  const run = await site.call<{ id: number }>("POST", `plans/${plan.id}/apply`, {});
  for (let tries = 0; tries < 200; tries += 1) {
    const { status } = await site.call<{ status: string }>("GET", `transactions/${run.id}`);
    if (status === "ready") break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await site.user("vera", "viewer");
});
afterAll(() => site?.stop());

test("navigation bar shows the number of unread notifications", async () => {
  const page = await site.open("/clusters");
  await page.getByRole("link", { name: "Notifications, 2 unread" }).click();
  const table = page.getByRole("table", { name: "Notifications" });
  await table.getByText("run.succeeded").waitFor();
  await page.getByRole("button", { name: /Mark notification .* as read/ }).first().click();
  await page.getByRole("link", { name: "Notifications, 1 unread" }).waitFor();
  await page.getByRole("button", { name: "Mark all as read" }).click();
  await page.getByRole("link", { name: "Notifications", exact: true }).waitFor();
  expect(page.consoleErrors).toEqual([]);
});

test("viewer sees notifications without controls", async () => {
  const page = await site.open("/notifications", "vera");
  await page.getByRole("table", { name: "Notifications" }).getByText("run.started").waitFor();
  expect(await page.getByRole("button", { name: "Mark all as read" }).count()).toBe(0);
});

test("webhook is created, tested and deleted", async () => {
  const receiver = createServer((_, response) => response.writeHead(204).end());
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  const page = await site.open("/admin/notifications");
  await page.getByLabel("Name", { exact: true }).fill("chat");
  await page.getByLabel("URL", { exact: true }).fill(`http://127.0.0.1:${port}/hook`);
  await page.getByRole("button", { name: "Create webhook" }).click();
  await page.getByText("shown only once").waitFor();
  await page.getByRole("button", { name: "Test chat" }).click();
  await page.getByRole("table", { name: "Deliveries" }).getByText("delivered").waitFor();
  await page.getByRole("button", { name: "Delete chat" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete webhook" }).click();
  await page.getByText("No webhooks yet").waitFor();
  receiver.close();
  expect(page.consoleErrors).toEqual([]);
});
