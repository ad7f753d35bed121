// What the service refuses, and the shell: in words, and for forms, by field.

import type * as schema from "./schema";

/** An error of the service, with its message (`application/problem+json`), or of the shell. */
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

/** An answer of a service that the screens no longer show: what would follow from it is not for another one. */
export class Switched extends Problem {
  constructor(
    /** Whether the request was to change something. */
    readonly wrote: boolean,
  ) {
    super(0, "The connection changed while a change was on its way. Connect there again to see whether it was made.");
  }
}

/** An error in words. As text, an error would begin with the name of its class. */
export const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Why something is not shown. */
export interface Failure {
  text: string;
  /** Whether there is no such thing: another try finds nothing either. */
  gone: boolean;
}

/** Why something could not be loaded; `gone` says so if there is no such thing. */
export function failureOf(error: unknown, gone: string): Failure {
  const missing = error instanceof Problem && error.status === 404;
  return { text: missing ? gone : wordsOf(error), gone: missing };
}
