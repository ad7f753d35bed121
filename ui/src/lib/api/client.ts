// A thin client of the admin API. It uses only documented routes, so a script can do
// all that the screens do.

import { serviceBase, type Downloaded } from "../desktop";
import { RowCount } from "../rows";
import type * as schema from "./schema";

/** An error of the service, with its message (`application/problem+json`). */
export class Problem extends Error {
  constructor(
    /** 0 if no answer came. */
    readonly status: number,
    detail: string,
    /** `null` if the answer is not one of the admin API. */
    readonly code: schema.ProblemCode | null = null,
    /** What is wrong with which field of the request: "name", "location.lat". */
    readonly errors: schema.ProblemField[] = [],
    /** With the code "changed", the resource as it is now. */
    readonly current: unknown = null,
    /** The version of `current`. */
    readonly etag: string | null = null,
  ) {
    super(detail);
    this.name = "Problem";
  }
}

/** A page of a list, and the cursor of the next one. */
export interface Page<T> {
  items: T[];
  next: string | null;
  count?: number | null;
}

export type Query = Record<string, string | number | boolean | null | undefined>;

/** The path and query of a request to the admin API. */
export function addressOf(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return `/admin/v1${path}${text ? `?${text}` : ""}`;
}

/** Called before a write; returns whether to continue. */
let confirmWrite: () => Promise<boolean> = async () => true;

export function askBeforeWrites(ask: () => Promise<boolean>): void {
  confirmWrite = ask;
}

async function send(method: string, path: string, query: Query, init: RequestInit): Promise<Response> {
  if (method !== "GET" && !(await confirmWrite())) throw new Problem(0, "Nothing was changed.");
  let response: Response;
  try {
    response = await fetch(serviceBase + addressOf(path, query), { method, ...init });
  } catch {
    throw new Problem(0, "The service does not answer.");
  }
  if (response.ok) return response;
  const problem = (await response.json().catch(() => null)) as Partial<schema.Problem> | null;
  const detail = problem?.detail ?? `The service answered ${response.status}.`;
  const { code = null, errors = [], current = null } = problem ?? {};
  throw new Problem(response.status, detail, code, errors, current, response.headers.get("etag"));
}

async function json<T>(method: string, path: string, query: Query, body?: unknown): Promise<T> {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await send(method, path, query, init);
  return (response.status === 204 ? undefined : await response.json()) as T;
}

export const get = <T>(path: string, query: Query = {}) => json<T>("GET", path, query);
export const post = <T>(path: string, body: unknown = {}, query: Query = {}) => json<T>("POST", path, query, body);
export const put = <T>(path: string, body: unknown) => json<T>("PUT", path, {}, body);
export const patch = <T>(path: string, body: unknown, query: Query = {}) =>
  patchVersion<T>(path, body, null, query).then(({ value }) => value);
/** Deletes a resource. Fails with the code "changed" if its version is no longer `etag`. */
export async function remove<T = void>(path: string, etag: string | null = null): Promise<T> {
  const response = await send("DELETE", path, {}, { headers: { ...(etag && { "if-match": etag }) } });
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** A resource, and its version for `If-Match`. */
export interface Version<T> {
  value: T;
  /** `null` if the service has no versions of it. */
  etag: string | null;
}

const versionOf = async <T>(response: Response): Promise<Version<T>> => ({
  value: (await response.json()) as T,
  etag: response.headers.get("etag"),
});

/** Fetches a resource with its version. */
export const getVersion = async <T>(path: string): Promise<Version<T>> => versionOf<T>(await send("GET", path, {}, {}));

/** Changes a resource. Fails with the code "changed" if its version is no longer `etag`. */
export async function patchVersion<T>(path: string, body: unknown, etag: string | null, query: Query = {}): Promise<Version<T>> {
  const headers = { "content-type": "application/merge-patch+json", ...(etag && { "if-match": etag }) };
  return versionOf<T>(await send("PATCH", path, query, { body: JSON.stringify(body), headers }));
}

/** Replaces a value. Fails with the code "changed" if its version is no longer `etag`. */
export async function putVersion(path: string, body: unknown, etag: string | null): Promise<void> {
  const headers = { "content-type": "application/json", ...(etag && { "if-match": etag }) };
  await send("PUT", path, {}, { body: JSON.stringify(body), headers });
}

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

/** Fetches a file in pieces; `heard` is called with the progress. */
export async function fetchFile(
  path: string,
  query: Query,
  body: unknown,
  signal: AbortSignal,
  heard: (progress: Downloaded) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const init = body === null ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await send(body === null ? "GET" : "POST", path, query, { ...init, signal });
  const [pieces, count] = [[] as Uint8Array<ArrayBuffer>[], new RowCount()];
  let bytes = 0;
  const reader = response.body!.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    pieces.push(piece.value);
    count.add(piece.value);
    bytes += piece.value.length;
    heard({ bytes, rows: count.rows });
  }
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

/** Calls one of the two public operations of a rolling key; returns status and body. */
export async function publicCall(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
  const response = await fetch(`${serviceBase}${path}`, { method, ...init });
  return { status: response.status, body: await response.json().catch(() => null) };
}
