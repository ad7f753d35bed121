// The client of the admin API. Paths, parameters, bodies and answers are checked against
// the OpenAPI document, of which the types are generated. A script can do all that a screen does.

import type { Downloaded } from "../shell/desktop";
import { switchedSince } from "../shell/connection.svelte";
import { shell } from "../shell/shell.svelte";
import { RowCount } from "../ui/rows";
import type { AnswerOf, BodyOf, Given, Method, ParametersOf, PathOf, WithoutBody } from "./operations";
import { Problem, Switched } from "./problem";
import type * as schema from "./schema";
import { writes } from "./writes";

export { Problem };

/** A page of a list, and the cursor of the next one. */
export interface Page<T> {
  items: T[];
  next: string | null;
  count?: number | null;
  count_is_estimate?: boolean | null;
}

export type Query = Record<string, string | number | boolean | null | undefined>;

/** Called before a write; returns whether to continue. */
let confirmWrite: () => Promise<boolean> = async () => true;

export function askBeforeWrites(ask: () => Promise<boolean>): void {
  confirmWrite = ask;
}

/** Whether a write may go on that the shell sends, not this client. */
export const mayWrite = (): Promise<boolean> => confirmWrite();

async function send(method: string, address: string, init: RequestInit = {}): Promise<Response> {
  if (writes(method, address) && !(await confirmWrite())) throw new Problem(0, "Nothing was changed.");
  let response: Response;
  try {
    response = await fetch(shell.base + address, { method, ...init });
  } catch {
    throw new Problem(0, "The service does not answer.");
  }
  if (response.ok) return response;
  const problem = (await response.json().catch(() => null)) as Partial<schema.Problem> | null;
  const detail = problem?.detail ?? `The service answered ${response.status}.`;
  const { code = null, errors = [], current = null } = problem ?? {};
  throw new Problem(response.status, detail, code, errors, current, response.headers.get("etag"));
}

/** The address of an operation. Parameters that its path does not name are its query; those without a value are left out. */
function operation(path: string, parameters: object = {}): string {
  const query = { ...parameters } as Query;
  const named = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = encodeURIComponent(String(query[name]));
    delete query[name];
    return value;
  });
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `/admin/v1${named}${text ? `?${text}` : ""}`;
}

/** A body, and the version that is changed with it. */
const sent = (body: BodyInit | undefined, type: string, etag: string | null = null): RequestInit => ({
  ...(body !== undefined && { body }),
  headers: { ...(body !== undefined && { "content-type": type }), ...(etag && { "if-match": etag }) },
});
const sentJson = (body: unknown, etag: string | null = null) => sent(JSON.stringify(body), "application/json", etag);

/** A resource, and its version for `If-Match`. */
export interface Version<T> {
  value: T;
  /** `null` if the service has no versions of it. */
  etag: string | null;
}

async function call<P extends string, M extends Method>(
  method: M,
  path: P,
  parameters?: object,
  init?: RequestInit,
): Promise<Version<AnswerOf<P, M>>> {
  const switched = switchedSince();
  const address = operation(path, parameters);
  const verb = method.toUpperCase();
  const response = await send(verb, address, init);
  // Work that was only accepted is answered with nothing, as is work that is done (202 and 204).
  const text = await response.text();
  // What would follow from the answer of one service is not for another.
  if (switched()) throw new Switched(writes(verb, address));
  const value = (text === "" ? undefined : JSON.parse(text)) as AnswerOf<P, M>;
  return { value, etag: response.headers.get("etag") };
}

export const get = async <P extends PathOf<"get">>(path: P, ...[parameters]: Given<P, "get">) =>
  (await call("get", path, parameters)).value;

export const post = async <P extends PathOf<"post">>(path: P, body: BodyOf<P, "post">, ...[parameters]: Given<P, "post">) =>
  (await call("post", path, parameters, sentJson(body))).value;

/** Posts to an operation that takes no body. */
export const run = async <P extends WithoutBody>(path: P, ...[parameters]: Given<P, "post">) =>
  (await call("post", path, parameters)).value;

/** Fetches a resource with its version. */
export const getVersion = <P extends PathOf<"get">>(path: P, parameters: ParametersOf<P, "get">) => call("get", path, parameters as object);

/** Changes a resource. Fails with the code "changed" if its version is no longer `etag`. */
export const patchVersion = <P extends PathOf<"patch">>(
  path: P,
  body: BodyOf<P, "patch">,
  parameters: ParametersOf<P, "patch">,
  etag: string | null,
) => call("patch", path, parameters as object, sent(JSON.stringify(body), "application/merge-patch+json", etag));

/** Replaces a value. Fails with the code "changed" if its version is no longer `etag`. */
export const put = async <P extends PathOf<"put">>(
  path: P,
  body: BodyOf<P, "put">,
  parameters: ParametersOf<P, "put">,
  etag: string | null = null,
) => (await call("put", path, parameters as object, sentJson(body, etag))).value;

/** Deletes a resource. Fails with the code "changed" if its version is no longer `etag`. */
export const remove = async <P extends PathOf<"delete">>(path: P, parameters: ParametersOf<P, "delete">, etag: string | null = null) =>
  (await call("delete", path, parameters as object, sent(undefined, "", etag))).value;

/** Sends bytes as they are. A Blob or File would end the window on WebKitGTK. */
export const upload = async <P extends PathOf<"post">>(path: P, bytes: ArrayBuffer, type: string, parameters: ParametersOf<P, "post">) =>
  (await call("post", path, parameters as object, sent(bytes, type))).value;

/** A request for a file. With a body it is sent by POST. */
export interface FileRequest {
  address: string;
  body?: unknown;
}

export const fileAt = <P extends PathOf<"get">>(path: P, ...[parameters]: Given<P, "get">): FileRequest => ({
  address: operation(path, parameters),
});
export const filePosted = <P extends PathOf<"post">>(path: P, body: BodyOf<P, "post">, ...[parameters]: Given<P, "post">): FileRequest => ({
  address: operation(path, parameters),
  body,
});

/** Fetches a file in pieces; `heard` is called with the progress. */
export async function fetchFile(
  { address, body }: FileRequest,
  heard: (progress: Downloaded) => void = () => undefined,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const response = await send(body === undefined ? "GET" : "POST", address, { ...(body !== undefined && sentJson(body)), signal });
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

/** What a public operation answered, and how long it took in milliseconds. */
export interface PublicAnswer {
  status: number;
  body: unknown;
  ms: number;
}

/** Calls one of the two public operations of a rolling key. */
export async function publicCall(method: string, path: string, body?: unknown): Promise<PublicAnswer> {
  if (writes(method, path) && !(await confirmWrite())) throw new Problem(0, "Nothing was changed.");
  const switched = switchedSince();
  const sent = performance.now();
  const response = await fetch(`${shell.base}${path}`, { method, ...(body !== undefined && sentJson(body)) });
  const answer = await response.json().catch(() => null);
  if (switched()) throw new Switched(writes(method, path));
  return { status: response.status, body: answer, ms: performance.now() - sent };
}
