import { afterAll, beforeAll, expect, test } from "vitest";
import { fillLogin, shop, Site } from "./kit";

let site: Site;
beforeAll(async () => {
  site = await Site.start();
  await shop(site);
  await site.user("vera", "viewer");
});
afterAll(() => site?.stop());

test("a wrong password is told, a right one opens the page that was asked for", async () => {
  const page = await site.page();
  await page.goto("/clusters/1/nodes");
  await fillLogin(page, "admin", "wrong");
  await page.getByRole("alert").getByText("User or password is wrong.").waitFor();
  await fillLogin(page);
  await page.getByRole("table", { name: "Nodes" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/clusters/1/nodes");
  expect(page.problems).toEqual([]);
});

test("an expired login returns to the same page after login", async () => {
  const page = await site.open("/clusters/1/settings");
  await page.getByRole("heading", { name: "shop" }).waitFor();
  const tokens = await site.call<{ id: number; label: string | null }[]>("GET", "tokens?order_by=-id&limit=1");
  await site.call("DELETE", `tokens/${tokens[0]?.id}`);
  await page.getByRole("link", { name: "Plugins" }).click();
  await page.getByText("Your login has expired").waitFor();
  await fillLogin(page);
  await page.getByRole("table", { name: "Plugins" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/clusters/1/plugins");
});

test("a viewer sees no controls that would be refused", async () => {
  const page = await site.open("/clusters/1/nodes", "vera");
  await page.getByRole("table", { name: "Nodes" }).waitFor();
  for (const name of ["Plan…", "Change roles…", "Take out…"]) expect(await page.getByRole("button", { name }).count(), name).toBe(0);
  expect(await page.getByRole("checkbox", { name: "Tick node 1" }).count()).toBe(0);
  expect(await page.getByRole("link", { name: "Admin" }).count()).toBe(0);
  await page.goto("/admin/users");
  await page.getByText("This is for administrators").waitFor();
  await page.goto("/clusters/1/settings");
  await page.getByRole("heading", { name: "common" }).waitFor();
  expect(await page.getByRole("button", { name: "Save settings" }).count()).toBe(0);
  expect(page.problems).toEqual([]);
});

test("a lost connection is shown and recovers", async () => {
  const page = await site.open("/clusters");
  await page.getByRole("article", { name: "Cluster shop" }).waitFor();
  await page.context().setOffline(true);
  await page.getByRole("link", { name: "Runs" }).click();
  await page.getByText("The server does not answer").waitFor();
  await page.context().setOffline(false);
  await page.getByRole("button", { name: "Try now" }).click();
  await page.getByText("The server does not answer").waitFor({ state: "detached" });
  await page.getByText("Nothing has run yet").waitFor();
});

test("keys go to places and show themselves", async () => {
  const page = await site.open("/clusters");
  await page.getByRole("heading", { name: "Clusters" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.goto("/clusters");
  await page.getByRole("searchbox", { name: "Search clusters" }).waitFor();
  await page.keyboard.press("/");
  expect(await page.getByRole("searchbox", { name: "Search clusters" }).evaluate((input) => input === document.activeElement)).toBe(true);
});
