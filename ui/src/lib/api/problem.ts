// Errors of the service and of the shell: as messages, and for forms by field.

import { reach } from "./reach";
import type * as schema from "./schema";

/** An error of the service, with its message (`application/problem+json`), or of the shell. */
export class Problem extends Error {
  constructor(
    /** 0 if no response came. */
    readonly status: number,
    detail: string,
    /** `null` if the response does not come from the admin API. */
    readonly code: schema.ProblemCode | null = null,
    /** The errors by field of the request: "name", "location.lat". */
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

/** A service that does not respond. Its message is outdated once it responds again. */
export class Unreachable extends Problem {
  constructor(detail: string) {
    super(0, detail);
    said.add(detail);
  }
}

/** Messages about the service that does not respond. */
const said = new Set<string>();

/**
 * Whether a text only says that a service does not respond: it is outdated once the service does.
 */
export const saysUnreachable = (text: string): boolean => said.has(text);

/** Calls `forget` when a failure is outdated, which happens only if the service did not respond. */
export function whenOutdated(error: unknown, forget: () => void): void {
  if (error instanceof Unreachable) reach.onceBack(forget);
}

/**
 * A response of a service that the screens no longer show: its result must not be used for another
 * service.
 */
export class Switched extends Problem {
  constructor(
    /** Whether the request could have changed something. */
    readonly wrote: boolean,
  ) {
    super(0, "The connection changed while a change was on its way. Connect there again to see whether it was made.");
  }
}

/** The message of an error. A plain `String(error)` would begin with the name of its class. */
export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The reason why something is not shown. */
export interface Failure {
  text: string;
  /** Whether it does not exist, so that another try is useless. */
  gone: boolean;
}

/** The reason why something could not be loaded; `gone` is the message if it does not exist. */
export function failureOf(error: unknown, gone: string): Failure {
  const missing = error instanceof Problem && error.status === 404;
  return { text: missing ? gone : wordsOf(error), gone: missing };
}
