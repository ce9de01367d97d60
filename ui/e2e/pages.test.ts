// Every page in both themes: no serious accessibility violation, no console error, a screenshot for review.
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessibilityViolations, createShop, saveScreenshot, Site } from "./kit";

let site: Site;
const PAGES: [name: string, path: string, ready: string][] = [
  ["clusters", "/clusters", "shop"],
  ["cluster", "/clusters/1", "Latest runs"],
  ["nodes", "/clusters/1/nodes", "shop-5"],
  ["settings", "/clusters/1/settings", "Debug"],
  ["plugins", "/clusters/1/plugins", "Monitoring"],
  ["graphs", "/clusters/1/graphs", "Node filter"],
  ["plans", "/clusters/1/plans", "#1"],
  ["graph", "/clusters/1/graphs/default?task=install-shop", "Attributes and provenance"],
  ["graph-edit", "/clusters/1/graphs/default/edit", "Save"],
  ["plan", "/plans/2?show=all&task=install-shop&node=2", "Decided by"],
  ["plan-changes", "/plans/2", "has changed"],
  ["run", "/runs/1?task=install-shop&node=2", "Parameters"],
  ["timeline", "/runs/1?view=timeline", "total"],
  ["runs", "/runs", "#1"],
  ["new-cluster", "/clusters/new", "Summary"],
  ["modules", "/modules?module=new", "Apply order"],
  ["yaql", "/yaql?q=changed", "Whether any of the expressions has changed"],
  ["admin-users", "/admin/users", "New user"],
  ["admin-tokens", "/admin/tokens", "User tokens"],
  ["admin-audit", "/admin/audit", "plan.create"],
  ["admin-notifications", "/admin/notifications", "New webhook"],
  ["notifications", "/notifications", "has succeeded"],
  ["about", "/admin/about", "Apache-2.0"],
  ["account", "/account", "Current password"],
];

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
  await site.call("PUT", `clusters/${cluster}/attributes`, { editable: { common: { debug: { value: true } } } });
  await site.call("POST", `clusters/${cluster}/plans`, {});
});
afterAll(() => site?.stop());

for (const colorScheme of ["light", "dark"] as const) {
  test(`pages are accessible in the ${colorScheme} theme`, { timeout: 240_000 }, async () => {
    const login = await site.page({ colorScheme });
    await login.goto("/");
    await login.getByRole("button", { name: "Log in" }).waitFor();
    expect(await accessibilityViolations(login), "login").toEqual([]);
    await saveScreenshot(login, `login-${colorScheme}`);
    const page = await site.open("/clusters", "admin", { colorScheme });
    const violations: string[] = [];
    for (const [name, path, ready] of PAGES) {
      await page.goto(path);
      await page.getByText(ready).first().waitFor();
      violations.push(...(await accessibilityViolations(page)).map((violation) => `${name}: ${violation}`));
      await saveScreenshot(page, `${name}-${colorScheme}`);
    }
    expect(violations).toEqual([]);
    expect(page.consoleErrors).toEqual([]);
  });
}

test("pages fit the width of a tablet", { timeout: 240_000 }, async () => {
  const page = await site.open("/clusters", "admin", { viewport: { width: 820, height: 1100 } });
  for (const [name, path, ready] of PAGES) {
    await page.goto(path);
    await page.getByText(ready).first().waitFor();
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(overflow, name).toBeLessThanOrEqual(0);
    await saveScreenshot(page, `tablet-${name}`);
  }
});
