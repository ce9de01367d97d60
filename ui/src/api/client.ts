// One typed client for the whole interface. Every failure becomes an ApiFailure that a page can show.
import createClient, { type Middleware } from "openapi-fetch";
import { connection } from "../app/connection";
import { session } from "../app/session";
import type { components, paths } from "./schema.gen";

export type Schemas = components["schemas"];
export type ErrorItem = Partial<Schemas["ErrorItem"]> & { message: string };

/** What went wrong, with every problem that the server told. */
export class ApiFailure extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly items: ErrorItem[] = [],
  ) {
    super(message);
  }

  /** Trying again may help: nothing was wrong with the request. */
  get isTransient(): boolean {
    return this.status === 0 || this.status === 503 || this.status === 429;
  }
}

const guard: Middleware = {
  onRequest({ request }) {
    const token = session.token();
    if (token) request.headers.set("X-Auth-Token", token);
    return request;
  },
};

/** Fetch that tells a lost connection from an answer. */
export async function reach(input: Request | string, init?: RequestInit): Promise<Response> {
  try {
    const response = await fetch(input, init);
    connection.found();
    return response;
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    connection.lost();
    throw new ApiFailure(0, "the server does not answer");
  }
}

export const api = createClient<paths>({ baseUrl: "", fetch: reach });
api.use(guard);

interface Call<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The answer, or an ApiFailure. */
export async function data<T>(call: Promise<Call<T>>): Promise<NonNullable<T>> {
  const { data, error, response } = await call;
  if (!response.ok) throw failure(response, error);
  return (data ?? null) as NonNullable<T>;
}

/** A page of a list and how long the whole list is. */
export async function page<T>(call: Promise<Call<T[]>>): Promise<{ items: T[]; total: number }> {
  const { data, error, response } = await call;
  if (!response.ok) throw failure(response, error);
  const items = data ?? [];
  const total = /\/(\d+)$/.exec(response.headers.get("Content-Range") ?? "")?.[1];
  return { items, total: total ? Number(total) : items.length };
}

/** Sends text as it was written, so that the lines of problems are those of the editor. */
export async function sendYaml(method: "PUT" | "POST", path: string, text: string): Promise<unknown> {
  const headers = { "Content-Type": "application/x-yaml", "X-Auth-Token": session.token() ?? "" };
  const response = await reach(path, { method, headers, body: text });
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw failure(response, body);
  return body;
}

function failure(response: Response, body: unknown): ApiFailure {
  if (response.status === 401) session.expire();
  const told = envelope(body);
  const message = told.message ?? `the server answered ${response.status} ${response.statusText}`.trim();
  return new ApiFailure(response.status, message, told.errors ?? []);
}

/** `{message, errors}`, or, of the API of modules, `{kind: {code, message}}`. */
function envelope(body: unknown): { message?: string; errors?: ErrorItem[] } {
  if (typeof body !== "object" || body === null) return {};
  if ("message" in body) return body as { message: string };
  const inner: unknown = Object.values(body)[0];
  return typeof inner === "object" && inner !== null && "message" in inner ? { message: String(inner.message) } : {};
}

export function asFailure(error: unknown): ApiFailure {
  if (error instanceof ApiFailure) return error;
  return new ApiFailure(-1, error instanceof Error ? error.message : String(error));
}
