// Every page in light and dark: nobody is kept from using it, the console is quiet, and there is a picture to look at.
import { afterAll, beforeAll, expect, test } from "vitest";
import { picture, seriousFindings, shop, Site } from "./kit";

let site: Site;
const PAGES: [name: string, path: string, ready: string][] = [
  ["clusters", "/clusters", "shop"],
  ["cluster", "/clusters/1", "Latest runs"],
  ["nodes", "/clusters/1/nodes", "shop-5"],
  ["settings", "/clusters/1/settings", "Debug"],
  ["plugins", "/clusters/1/plugins", "Monitoring"],
  ["graphs", "/clusters/1/graphs", "Filter of nodes"],
  ["plans", "/clusters/1/plans", "#1"],
  ["graph", "/clusters/1/graphs/default?task=install-shop", "Attributes, and who set them"],
  ["graph-edit", "/clusters/1/graphs/default/edit", "Store"],
  ["plan", "/plans/2?show=all&task=install-shop&node=2", "decided by"],
  ["run", "/runs/1?task=install-shop&node=2", "What its executor gets"],
  ["timeline", "/runs/1?view=timeline", "in all"],
  ["runs", "/runs", "#1"],
  ["new-cluster", "/clusters/new", "What the cluster will have"],
  ["modules", "/modules?module=new", "Apply order"],
  ["yaql", "/yaql?q=changed", "Whether the expression has another value"],
  ["admin-users", "/admin/users", "New user"],
  ["admin-tokens", "/admin/tokens", "Tokens of users"],
  ["admin-audit", "/admin/audit", "plan.create"],
  ["admin-notifications", "/admin/notifications", "New webhook"],
  ["notifications", "/notifications", "has succeeded"],
  ["about", "/admin/about", "Apache-2.0"],
  ["account", "/account", "Present password"],
];

beforeAll(async () => {
  site = await Site.start();
  const { cluster } = await shop(site);
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
  test(`pages in ${colorScheme} colours`, { timeout: 240_000 }, async () => {
    const login = await site.page({ colorScheme });
    await login.goto("/");
    await login.getByRole("button", { name: "Log in" }).waitFor();
    expect(await seriousFindings(login), "login").toEqual([]);
    await picture(login, `login-${colorScheme}`);
    const page = await site.open("/clusters", "admin", { colorScheme });
    const found: string[] = [];
    for (const [name, path, ready] of PAGES) {
      await page.goto(path);
      await page.getByText(ready).first().waitFor();
      found.push(...(await seriousFindings(page)).map((one) => `${name}: ${one}`));
      await picture(page, `${name}-${colorScheme}`);
    }
    expect(found).toEqual([]);
    expect(page.problems).toEqual([]);
  });
}

test("pages fit the width of a tablet", { timeout: 240_000 }, async () => {
  const page = await site.open("/clusters", "admin", { viewport: { width: 820, height: 1100 } });
  for (const [name, path, ready] of PAGES) {
    await page.goto(path);
    await page.getByText(ready).first().waitFor();
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    expect(beyond, name).toBeLessThanOrEqual(0);
    await picture(page, `tablet-${name}`);
  }
});
