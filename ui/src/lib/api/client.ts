// The client of the admin API. Paths, parameters, bodies and responses are checked against types
// that are generated from the OpenAPI document. Scripts can do everything that screens do.

import { announceWrite } from "./changes";
import { switchedSince } from "./connection.svelte";
import { reach } from "./reach";
import { heardTime } from "../format/now.svelte";
import { RowCount } from "./rows";
import type { AnswerOf, BodyOf, Given, Method, ParametersOf, PathOf, WithoutBody } from "./operations";
import { Problem, Switched, Unreachable } from "./problem";
import type * as schema from "./schema";
import { service } from "./service";
import { erases, writes } from "./writes";

export { Problem };

/** A page of a list, and the cursor of the next one. */
export interface Page<T> {
  items: T[];
  next: string | null;
  count?: number | null;
  count_is_estimate?: boolean | null;
}

export type Query = Record<string, string | number | boolean | string[] | null | undefined>;

/** Called before a write; returns whether to continue. */
let confirmWrite: () => Promise<boolean> = async () => true;

export function askBeforeWrites(ask: () => Promise<boolean>): void {
  confirmWrite = ask;
}

/** Whether a write that the shell sends, and not this client, may continue. */
export const mayWrite = (): Promise<boolean> => confirmWrite();

/**
 * Sends a change. If the service is lost, the change is not sent, because it would take effect much
 * later.
 */
async function change(method: string, address: string, init: RequestInit): Promise<Response> {
  if (reach.lost) throw new Unreachable(`${service.name()} does not answer. Nothing was changed.`);
  const response = await fetch(service.base() + address, { method, ...init }).catch(noAnswer);
  const why = await unreachable(response);
  if (why === null) return response;
  throw new Unreachable(why);
}

/**
 * Sends a request that changes nothing. If the service is lost, it waits, and is sent again
 * afterwards.
 */
async function read(method: string, address: string, init: RequestInit): Promise<Response> {
  const switched = switchedSince();
  for (;;) {
    if (reach.lost) {
      await reach.back();
      // The screens may show another service by now.
      if (switched()) throw new Switched(false);
    }
    const answer = fetch(service.base() + address, { method, ...init }).catch(noAnswer);
    // A hanging service may not respond long after it is known to be lost.
    const response = await reach.unlessLost(answer);
    if (response === null) continue;
    const why = await unreachable(response);
    if (why === null) return response;
    if (!(await reach.isLost())) throw new Unreachable(why);
  }
}

function noAnswer(): never {
  throw new Problem(0, "The service does not answer.");
}

/**
 * The reason why the response comes only from the shell and not from the service; `null` for a
 * response of the service.
 */
async function unreachable(response: Response): Promise<string | null> {
  if (response.status !== 502) return null;
  const problem = (await response
    .clone()
    .json()
    .catch(() => null)) as { code?: string; detail?: string } | null;
  return problem?.code === "unreachable" ? (problem.detail ?? "") : null;
}

async function send(method: string, address: string, init: RequestInit = {}): Promise<Response> {
  if (writes(method, address) && !(await confirmWrite())) throw new Problem(0, "Nothing was changed.");
  const response = writes(method, address)
    ? // Even a change that failed may have been made.
      await change(method, address, init).finally(() => announceWrite(address.replace(/^\/admin\/v1/, ""), erases(method, address)))
    : await read(method, address, init);
  heardTime(response.headers.get("date"));
  if (response.ok) return response;
  const problem = (await response.json().catch(() => null)) as Partial<schema.Problem> | null;
  const detail = problem?.detail ?? `The service answered ${response.status}.`;
  const { code = null, errors = [], current = null } = problem ?? {};
  throw new Problem(response.status, detail, code, errors, current, response.headers.get("etag"));
}

/**
 * The address of an operation. Parameters that are not in its path become its query; those without
 * a value are left out.
 */
function operation(path: string, parameters: object = {}): string {
  const query = { ...parameters } as Query;
  const named = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = encodeURIComponent(String(query[name]));
    delete query[name];
    return value;
  });
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const pairs = given.flatMap(([name, value]) => [value].flat().map((one) => [name, String(one)]));
  const text = new URLSearchParams(pairs).toString();
  return `/admin/v1${named}${text ? `?${text}` : ""}`;
}

/** A body, and the version that it changes. */
const sent = (body: BodyInit | undefined, type: string, etag: string | null = null): RequestInit => ({
  ...(body !== undefined && { body }),
  headers: { ...(body !== undefined && { "content-type": type }), ...(etag && { "if-match": etag }) },
});
const sentJson = (body: unknown, etag: string | null = null) => sent(JSON.stringify(body), "application/json", etag);

/** A resource, and its version for `If-Match`. */
export interface Version<T> {
  value: T;
  /** `null` if the service has no versions of this resource. */
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
  // Accepted work has an empty response, like completed work (202 and 204).
  const text = await response.text();
  // A result from one service must not be used for another.
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

/** Replaces a value by bytes, which are sent as they are. */
export const putBytes = async <P extends PathOf<"put">>(path: P, bytes: ArrayBuffer, type: string, parameters: ParametersOf<P, "put">) =>
  (await call("put", path, parameters as object, sent(bytes, type))).value;

/** A request for a file. With a body, the method is POST. */
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

/** The part of a file that has arrived. */
export interface FileProgress {
  bytes: number;
  /** Line ends outside of quotes. */
  rows: number;
}

/** Fetches a file in pieces; `heard` is called with the progress. */
export async function fetchFile(
  { address, body }: FileRequest,
  heard: (progress: FileProgress) => void = () => undefined,
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

/** The response of a public operation, and its time in milliseconds. */
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
  const response = await fetch(`${service.base()}${path}`, { method, ...(body !== undefined && sentJson(body)) });
  const answer = await response.json().catch(() => null);
  if (switched()) throw new Switched(writes(method, path));
  return { status: response.status, body: answer, ms: performance.now() - sent };
}
