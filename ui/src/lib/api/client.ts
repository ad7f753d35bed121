// The thin client of the admin API. What the screens can do, a script can do:
// everything goes through the documented routes.

import { serviceBase } from "../desktop";

/** A refusal in the service's words (`application/problem+json`). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    detail: string,
  ) {
    super(detail);
    this.name = "Problem";
  }
}

/** A page of a list, and where the next one begins. */
export interface Page<T> {
  items: T[];
  next: string | null;
  count?: number | null;
}

export type Query = Record<string, string | number | boolean | null | undefined>;

function address(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return `${serviceBase}/admin/v1${path}${text ? `?${text}` : ""}`;
}

/** Called before the first write to a remote service; answers whether to go on. */
let confirmWrite: () => Promise<boolean> = async () => true;

export function askBeforeWrites(ask: () => Promise<boolean>): void {
  confirmWrite = ask;
}

async function send(method: string, path: string, query: Query, init: RequestInit): Promise<Response> {
  if (method !== "GET" && !(await confirmWrite())) throw new Problem(0, "Nothing was changed.");
  let response: Response;
  try {
    response = await fetch(address(path, query), { method, ...init });
  } catch {
    throw new Problem(0, "The service does not answer.");
  }
  if (response.ok) return response;
  const problem = (await response.json().catch(() => null)) as { detail?: string } | null;
  throw new Problem(response.status, problem?.detail ?? `The service answered ${response.status}.`);
}

async function json<T>(method: string, path: string, query: Query, body?: unknown, type = "application/json"): Promise<T> {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": type } };
  const response = await send(method, path, query, init);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export const get = <T>(path: string, query: Query = {}) => json<T>("GET", path, query);
export const post = <T>(path: string, body: unknown = {}, query: Query = {}) => json<T>("POST", path, query, body);
export const put = <T>(path: string, body: unknown) => json<T>("PUT", path, {}, body);
export const patch = <T>(path: string, body: unknown, query: Query = {}) =>
  json<T>("PATCH", path, query, body, "application/merge-patch+json");
export const remove = <T = void>(path: string) => json<T>("DELETE", path, {});

/** Sends bytes as they are. A Blob or File would end the window on WebKitGTK. */
export async function upload<T>(path: string, bytes: ArrayBuffer, type: string, query: Query = {}): Promise<T> {
  const response = await send("POST", path, query, { body: bytes, headers: { "content-type": type } });
  return (await response.json()) as T;
}

/** Fetches a file. */
export async function download(path: string, query: Query = {}, body?: unknown): Promise<Uint8Array<ArrayBuffer>> {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await send(body === undefined ? "GET" : "POST", path, query, init);
  return new Uint8Array(await response.arrayBuffer());
}

/** One of the two public operations of a rolling key, answered as it stands. */
export async function publicCall(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await fetch(`${serviceBase}${path}`, { method, ...init });
  return { status: response.status, body: await response.json().catch(() => null) };
}
