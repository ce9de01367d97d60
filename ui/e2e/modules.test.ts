import { afterAll, beforeAll, expect, test } from "vitest";
import { picture, seriousFindings, shop, Site } from "./kit";

let site: Site;
beforeAll(async () => {
  site = await Site.start();
  await shop(site);
  await site.user("olga", "operator");
});
afterAll(() => site?.stop());

test("a module is made, keeps its order, is applied to a node and tells what became of it", async () => {
  const page = await site.open("/modules?module=new");
  await page.getByLabel("Name").fill("licence");
  await page.getByLabel("Type").fill("ping");
  await page.getByLabel("Contents").fill("message=hello");
  const orders = await page.getByLabel("Apply order").locator("option").allTextContents();
  expect(orders).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
  await page.getByLabel("Apply order").selectOption("7");
  expect(await page.getByRole("checkbox", { name: /Priority apply/ }).isChecked()).toBe(false);
  await page.getByRole("checkbox", { name: /May be changed/ }).check();
  await page.getByRole("button", { name: "Make module" }).click();
  const row = page.getByRole("table", { name: "Modules" }).getByRole("row", { name: /licence/ });
  await row.getByText("7").waitFor();
  await page.getByLabel("Node to apply it to").selectOption({ label: "shop-2" });
  await page.getByRole("button", { name: "Apply", exact: true }).click();
  await page.getByRole("region", { name: "Nodes" }).getByText("ok").waitFor();
  await picture(page, "module-light");
  expect(await seriousFindings(page)).toEqual([]);
  await page.getByRole("checkbox", { name: /Priority apply/ }).check();
  await page.getByRole("button", { name: "Store" }).click();
  await row.getByText("priority").waitFor();
  expect(page.problems).toEqual([]);
});

test("who is no admin is not offered what only admins may say", async () => {
  const page = await site.open("/modules?module=new", "olga");
  await page.getByLabel("Apply order").waitFor();
  expect(await page.getByRole("checkbox", { name: /Priority apply/ }).count()).toBe(0);
});
