import { afterAll, beforeAll, expect, test } from "vitest";
import { createShop, fillLogin, Site } from "./kit";

let site: Site;
beforeAll(async () => {
  site = await Site.start();
  await createShop(site);
  await site.user("vera", "viewer");
});
afterAll(() => site?.stop());

test("wrong password is rejected, correct password opens the requested page", async () => {
  const page = await site.page();
  await page.goto("/clusters/1/nodes");
  await fillLogin(page, "admin", "wrong");
  await page.getByRole("alert").getByText("Incorrect username or password.").waitFor();
  await fillLogin(page);
  await page.getByRole("table", { name: "Nodes" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/clusters/1/nodes");
  expect(page.consoleErrors).toEqual([]);
});

test("login after an expired session returns to the same page", async () => {
  const page = await site.open("/clusters/1/settings");
  await page.getByRole("heading", { name: "shop" }).waitFor();
  const tokens = await site.call<{ id: number; label: string | null }[]>("GET", "tokens?order_by=-id&limit=1");
  await site.call("DELETE", `tokens/${tokens[0]?.id}`);
  await page.getByRole("link", { name: "Plugins" }).click();
  await page.getByText("Your session has expired").waitFor();
  await fillLogin(page);
  await page.getByRole("table", { name: "Plugins" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/clusters/1/plugins");
});

test("viewer sees no controls without permission", async () => {
  const page = await site.open("/clusters/1/nodes", "vera");
  await page.getByRole("table", { name: "Nodes" }).waitFor();
  for (const name of ["Create plan…", "Change roles…", "Remove from cluster…"]) expect(await page.getByRole("button", { name }).count(), name).toBe(0);
  expect(await page.getByRole("checkbox", { name: "Select node 1" }).count()).toBe(0);
  expect(await page.getByRole("link", { name: "Admin" }).count()).toBe(0);
  await page.goto("/admin/users");
  await page.getByText("Administrator role required").waitFor();
  await page.goto("/clusters/1/settings");
  await page.getByRole("heading", { name: "common" }).waitFor();
  expect(await page.getByRole("button", { name: "Save settings" }).count()).toBe(0);
  expect(page.consoleErrors).toEqual([]);
});

test("lost connection shows a banner and recovers", async () => {
  const page = await site.open("/clusters");
  await page.getByRole("article", { name: "Cluster shop" }).waitFor();
  await page.context().setOffline(true);
  await page.getByRole("link", { name: "Runs" }).click();
  await page.getByText("Cannot reach the server").waitFor();
  await page.context().setOffline(false);
  await page.getByRole("button", { name: "Retry now" }).click();
  await page.getByText("Cannot reach the server").waitFor({ state: "detached" });
  await page.getByText("No runs yet").waitFor();
});

test("keyboard shortcuts navigate, search and list themselves", async () => {
  const page = await site.open("/clusters");
  await page.getByRole("heading", { name: "Clusters" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await page.goto("/clusters");
  await page.getByRole("searchbox", { name: "Search clusters" }).waitFor();
  await page.keyboard.press("/");
  expect(await page.getByRole("searchbox", { name: "Search clusters" }).evaluate((input) => input === document.activeElement)).toBe(true);
});
