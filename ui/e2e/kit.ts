// A real server with agents inside, a real browser, and what the tests need of both.
import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

const PASSWORD = "correct horse";
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set; run \`cargo xtask test --only browser\``);
  return value;
}

function findBrowser(): string {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = folders.map((folder) => join(folder, "chromium")).find((path) => existsSync(path));
  if (!found) throw new Error("there is no `chromium`; install it with `apt-get install chromium`");
  return found;
}

export class Site {
  private constructor(
    readonly base: string,
    private readonly server: ChildProcess,
    private readonly browser: Browser,
    readonly folder: string,
    private token: string,
  ) {}

  /** Nothing is shared: a folder, a port and a browser of its own. */
  static async start(): Promise<Site> {
    const folder = mkdtempSync(join(tmpdir(), "stoker-ui-"));
    const server = spawn(required("STOKER_PROGRAM"), ["serve", "--local-agents", "--listen", "127.0.0.1:0", "--data-dir", folder, "--plugin-scripts-root", join(folder, "scripts")], {
      env: { ...process.env, STOKER_ADMIN_PASSWORD: PASSWORD },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const base = await new Promise<string>((resolve, reject) => {
      let text = "";
      server.stderr?.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        const found = /listens on (\S+)/.exec(text);
        if (found?.[1]) resolve(found[1]);
      });
      server.on("exit", () => reject(new Error(`the server ended before it listened:\n${text}`)));
    });
    const browser = await chromium.launch({
      executablePath: findBrowser(),
      args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
    });
    const site = new Site(base, server, browser, folder, "");
    site.token = await site.logIn("admin", PASSWORD);
    return site;
  }

  async stop(): Promise<void> {
    await this.browser.close();
    const ended = new Promise((resolve) => this.server.once("exit", resolve));
    this.server.kill();
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }

  async logIn(username: string, password: string): Promise<string> {
    const body = JSON.stringify({ auth: { passwordCredentials: { username, password } } });
    const answer = await (await fetch(`${this.base}/keystone/v2.0/tokens`, { method: "POST", body })).json();
    return (answer as { access: { token: { id: string } } }).access.token.id;
  }

  /** A request that must succeed. Text is YAML, anything else JSON. */
  async call<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T> {
    const isYaml = typeof body === "string";
    const response = await fetch(`${this.base}/api/v1/${path}`, {
      method,
      headers: { "X-Auth-Token": this.token, "Content-Type": isYaml ? "application/x-yaml" : "application/json" },
      body: body === undefined ? undefined : isYaml ? body : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text ? JSON.parse(text) : null) as T;
  }

  /** A command of the program as the admin; what it wrote to standard output. */
  command(...words: string[]): string {
    const env = { ...process.env, XDG_CONFIG_HOME: this.folder };
    return execFileSync(required("STOKER_PROGRAM"), [...words, "--server", this.base, "--token", this.token], { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }

  async user(name: string, role: string): Promise<void> {
    await this.call("POST", "users", { name, password: PASSWORD, tenant: "admin", roles: [role] });
  }

  /** A page that nobody is logged in on. What the console complains of is collected. */
  async page(options: BrowserContextOptions = {}): Promise<Page & { problems: string[] }> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, baseURL: this.base, ...options });
    const page = Object.assign(await context.newPage(), { problems: [] as string[] });
    page.on("console", (message) => {
      // Answers such as 401 and 400 are logged by the browser itself; the pages show them.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) page.problems.push(message.text());
    });
    page.on("pageerror", (error) => page.problems.push(error.message));
    page.setDefaultTimeout(20_000);
    return page;
  }

  /** A page of somebody who is logged in, at an address. */
  async open(path: string, name = "admin", options: BrowserContextOptions = {}): Promise<Page & { problems: string[] }> {
    const page = await this.page(options);
    await page.goto(path);
    await fillLogin(page, name);
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    return page;
  }
}

export async function fillLogin(page: Page, name = "admin", password = PASSWORD): Promise<void> {
  await page.getByLabel("User").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
}

/** Findings of axe that keep somebody from using a page. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // Through the debugger, which the page's own policy does not reach.
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[] }> } };
    return (await axe.run()).violations;
  });
  return violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .flatMap((one) => one.nodes.slice(0, 3).map((node) => `${one.id}: ${node.html.slice(0, 160)} ${node.failureSummary.split("\n")[1] ?? ""}`));
}

/** Where pictures go; looked at by people, and some of them shown in the documentation. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = required("STOKER_SCREENSHOTS");
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** The example that comes with the product: a release, a plugin, a cluster with five nodes. */
export async function shop(site: Site): Promise<{ cluster: number; release: number; nodes: number[] }> {
  const folder = new URL("../../examples/demo/", import.meta.url);
  const example = (name: string) => readFileSync(new URL(name, folder), "utf8");
  const release = (await site.call<{ id: number }>("POST", "releases", example("release.yaml"))).id;
  const plugin = Number(site.command("plugin", "install", fileURLToPath(new URL("plugins/monitoring", folder)), "--quiet"));
  const cluster = (await site.call<{ id: number }>("POST", "clusters", { name: "shop", release_id: release })).id;
  const enabled = { metadata: { class: "plugin", enabled: true, chosen_id: plugin } };
  await site.call("PUT", `clusters/${cluster}/attributes`, { editable: { monitoring: enabled } });
  await site.call("PUT", `clusters/${cluster}/deployment_graphs/default`, example("cluster-graph.yaml"));
  const nodes: number[] = [];
  for (let n = 1; n <= 5; n += 1) nodes.push((await site.call<{ id: number }>("POST", "nodes", { mac: `52:54:00:00:00:0${n}`, status: "discover", name: `shop-${n}` })).id);
  await site.call("POST", `clusters/${cluster}/assignment`, nodes.map((id, place) => ({ id, roles: [place === 0 ? "database" : "web"] })));
  return { cluster, release, nodes };
}
