// The typed REST client of the web UI. Every failed request becomes an ApiFailure.
import createClient, { type Middleware } from "openapi-fetch";
import { connection } from "../app/connection";
import { session } from "../app/session";
import type { components, paths } from "./schema.gen";

export type Schemas = components["schemas"];
export type ErrorItem = Partial<Schemas["ErrorItem"]> & { message: string };

/**
 * A failed request with all problems that the server reported. Status 0 means that the server is unreachable.
 */
export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly items: ErrorItem[] = [],
  ) {
    super(message);
  }

  /** Whether a retry may succeed: the request itself is not at fault. */
  get isTransient(): boolean {
    return this.status === 0 || this.status === 503 || this.status === 429;
  }
}

const authentication: Middleware = {
  onRequest({ request }) {
    const token = session.token();
    if (token) request.headers.set("X-Auth-Token", token);
    return request;
  },
};

/**
 * `fetch` that records whether the server is reachable. Any response, errors included, counts as reachable.
 */
export async function fetchServer(input: Request | string, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init);
    connection.markRestored();
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    connection.markLost();
    throw new ApiFailure(0, "cannot fetchServer the server");
  }
}

export const api = createClient<paths>({ baseUrl: "", fetch: fetchServer });
api.use(authentication);

interface Call<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** Returns the response body. Throws an ApiFailure if the request failed. */
export async function data<T>(call: Promise<Call<T>>): Promise<NonNullable<T>> {
  const { data, error, response } = await call;
  if (!response.ok) throw failure(response, error);
  return (data ?? null) as NonNullable<T>;
}

/**
 * Returns one page of a list and the total length of the list. Throws an ApiFailure if the request failed.
 */
export async function page<T>(call: Promise<Call<T[]>>): Promise<{ items: T[]; total: number }> {
  const { data, error, response } = await call;
  if (!response.ok) throw failure(response, error);
  const items = data ?? [];
  const total = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1];
  return { items, total: total ? Number(total) : items.length };
}

/** Sends YAML unchanged, so that the server reports line numbers of the editor. */
export async function sendYaml(method: "PUT" | "POST", path: string, text: string): Promise<unknown> {
  const headers = { "Content-Type": "application/x-yaml", "X-Auth-Token": session.token() ?? "" };
  const response = await fetchServer(path, { method, headers, body: text });
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw failure(response, body);
  return body;
}

function failure(response: Response, body: unknown): ApiFailure {
  if (response.status === 401) session.expire();
  const { message: reported, errors } = parseErrorBody(body);
  const message = reported ?? `the server responded with status ${response.status} ${response.statusText}`.trim();
  return new ApiFailure(response.status, message, errors ?? []);
}

/** Parses `{message, errors}`, or `{kind: {code, message}}` of the modules API. */
function parseErrorBody(body: unknown): { message?: string; errors?: ErrorItem[] } {
  if (typeof body !== "object" || body === null) return {};
  if ("message" in body) return body as { message: string };
  const inner: unknown = Object.values(body)[0];
  return typeof inner === "object" && inner !== null && "message" in inner ? { message: String(inner.message) } : {};
}

export function asFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  return new ApiFailure(-1, error instanceof Error ? error.message : String(error));
}
