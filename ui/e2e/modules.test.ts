import { afterAll, beforeAll, expect, test } from "vitest";
import { accessibilityViolations, createShop, saveScreenshot, Site } from "./kit";

let site: Site;
beforeAll(async () => {
  site = await Site.start();
  await createShop(site);
  await site.user("olga", "operator");
});
afterAll(() => site?.stop());

test("module is created with an order, applied to a node, and shows its result", async () => {
  const page = await site.open("/modules?module=new");
  await page.getByLabel("Name").fill("licence");
  await page.getByLabel("Type").fill("ping");
  await page.getByLabel("Contents").fill("message=hello");
  const orders = await page.getByLabel("Apply order").locator("option").allTextContents();
  expect(orders).toEqual(["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]);
  await page.getByLabel("Apply order").selectOption("7");
  expect(await page.getByRole("checkbox", { name: /Priority apply/ }).isChecked()).toBe(false);
  await page.getByLabel("Release").selectOption({ label: "Shop 1.0-10.0" });
  await page.getByRole("checkbox", { name: /All tenants/ }).check();
  await page.getByRole("checkbox", { name: /Allow changes/ }).check();
  await page.getByRole("button", { name: "Create module", exact: true }).click();
  const row = page.getByRole("table", { name: "Modules" }).getByRole("row", { name: /licence/ });
  await row.getByText("7").waitFor();
  await row.getByText("Shop 1.0-10.0, all tenants").waitFor();
  await page.getByLabel("Target node").selectOption({ label: "shop-2" });
  await page.getByRole("button", { name: "Apply to node" }).click();
  await page.getByRole("region", { name: "Nodes" }).getByText("ok").waitFor();
  await saveScreenshot(page, "module-light");
  expect(await accessibilityViolations(page)).toEqual([]);
  await page.getByRole("checkbox", { name: /Priority apply/ }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await row.getByText("priority").waitFor();
  expect(page.consoleErrors).toEqual([]);
});

test("module with full access is changed by an operator", async () => {
  const page = await site.open("/modules?module=new");
  await page.getByLabel("Name").fill("motd");
  await page.getByLabel("Type").fill("ping");
  await page.getByLabel("Contents").fill("message=hello");
  await page.getByLabel("Release").selectOption({ label: "Shop, all versions" });
  await page.getByRole("checkbox", { name: /Full access/ }).check();
  await page.getByRole("button", { name: "Create module", exact: true }).click();
  const row = page.getByRole("table", { name: "Modules" }).getByRole("row", { name: /motd/ });
  await row.getByText("Shop (all versions)").waitFor();
  expect(await row.getByText("admin", { exact: true }).count()).toBe(0);
  expect(await page.getByRole("checkbox", { name: /Full access/ }).isChecked()).toBe(true);
  const other = await site.open(new URL(page.url()).pathname + new URL(page.url()).search, "olga");
  await other.getByLabel("Description").fill("by an operator");
  await other.getByRole("button", { name: "Save" }).click();
  await other.getByRole("searchbox", { name: "Search modules" }).fill("by an operator");
  await other.getByRole("table", { name: "Modules" }).getByText("motd").waitFor();
  expect([...page.consoleErrors, ...other.consoleErrors]).toEqual([]);
});

test("operator does not see administrator options", async () => {
  const page = await site.open("/modules?module=new", "olga");
  await page.getByLabel("Apply order").waitFor();
  expect(await page.getByRole("checkbox", { name: /Priority apply/ }).count()).toBe(0);
});
