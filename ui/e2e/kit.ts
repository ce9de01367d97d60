// Fixtures of the browser tests: a server with local agents, a browser, and an example cluster.
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
  const program = folders.map((folder) => join(folder, "chromium")).find((path) => existsSync(path));
  if (!program) throw new Error("cannot find `chromium` in PATH; install it with `apt-get install chromium`");
  return program;
}

export class Site {
  private constructor(
    readonly base: string,
    private readonly server: ChildProcess,
    private readonly browser: Browser,
    readonly folder: string,
    private token: string,
  ) {}

  /** Starts a server and a browser. Each site has its own data directory and port. */
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
        const match = /listens on (\S+)/.exec(text);
        if (match?.[1]) resolve(match[1]);
      });
      server.on("exit", () => reject(new Error(`the server exited before it was ready:\n${text}`)));
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
    const response = await (await fetch(`${this.base}/keystone/v2.0/tokens`, { method: "POST", body })).json();
    return (response as { access: { token: { id: string } } }).access.token.id;
  }

  /** Sends a REST request as the administrator: a string as YAML, other bodies as JSON. Throws on an error status. */
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

  /** Runs a `stoker` command as the administrator. Returns its standard output. */
  command(...args: string[]): string {
    const env = { ...process.env, XDG_CONFIG_HOME: this.folder };
    return execFileSync(required("STOKER_PROGRAM"), [...args, "--server", this.base, "--token", this.token], { env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }

  async user(name: string, role: string): Promise<void> {
    await this.call("POST", "users", { name, password: PASSWORD, tenant: "admin", roles: [role] });
  }

  /** Opens a page without a login session. Collects console errors and uncaught exceptions. */
  async page(options: BrowserContextOptions = {}): Promise<Page & { consoleErrors: string[] }> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 800 }, baseURL: this.base, ...options });
    const page = Object.assign(await context.newPage(), { consoleErrors: [] as string[] });
    page.on("console", (message) => {
      // The browser logs responses with an error status itself; tests provoke them.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) page.consoleErrors.push(message.text());
    });
    page.on("pageerror", (error) => page.consoleErrors.push(error.message));
    page.setDefaultTimeout(20_000);
    return page;
  }

  /** Opens a path as a logged-in user. */
  async open(path: string, name = "admin", options: BrowserContextOptions = {}): Promise<Page & { consoleErrors: string[] }> {
    const page = await this.page(options);
    await page.goto(path);
    await fillLogin(page, name);
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    return page;
  }
}

export async function fillLogin(page: Page, name = "admin", password = PASSWORD): Promise<void> {
  await page.getByLabel("Username").fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
}

/** Serious and critical accessibility violations that axe reports. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  // Injected through the debugger, to which the Content-Security-Policy does not apply.
  await page.evaluate(AXE);
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[] }> } };
    return (await axe.run()).violations;
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.slice(0, 3).map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary.split("\n")[1] ?? ""}`));
}

/** Saves a screenshot for review. Some of them are copied into the documentation. */
export async function saveScreenshot(page: Page, name: string): Promise<void> {
  const folder = required("STOKER_SCREENSHOTS");
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** Creates the cluster of `examples/demo`: a release, a plugin and five nodes. */
export async function createShop(site: Site): Promise<{ cluster: number; release: number; nodes: number[] }> {
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
  await site.call("POST", `clusters/${cluster}/assignment`, nodes.map((id, index) => ({ id, roles: [index === 0 ? "database" : "web"] })));
  return { cluster, release, nodes };
}
