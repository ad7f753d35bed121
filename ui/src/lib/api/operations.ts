// What the OpenAPI document says of an operation, by its path without `/admin/v1`.

import type { paths } from "./schema";
import type { Answer } from "./types";

export type Method = "get" | "post" | "put" | "patch" | "delete";
type Whole<P extends string> = `/admin/v1${P}` & keyof paths;
type Operation<P extends string, M extends Method> = paths[Whole<P>][M];

/** The paths that have an operation of this method. */
export type PathOf<M extends Method> = {
  [Path in keyof paths]: Path extends `/admin/v1${infer P}` ? (paths[Path][M] extends { responses: unknown } ? P : never) : never;
}[keyof paths];

/** Parameters of a query may be left out by any value that is none. */
type InQuery<Q> = [NonNullable<Q>] extends [never] ? unknown : { [Name in keyof NonNullable<Q>]: NonNullable<Q>[Name] | null | "" };
type InPath<P> = [NonNullable<P>] extends [never] ? unknown : NonNullable<P>;

/** The parameters of the path and of the query of an operation, together. */
export type ParametersOf<P extends string, M extends Method> =
  Operation<P, M> extends { parameters: { path?: infer Path; query?: infer Q } } ? InPath<Path> & InQuery<Q> : never;

/** The parameters as the last argument of a call, which is left out if none is required. */
export type Given<P extends string, M extends Method> =
  object extends ParametersOf<P, M> ? [parameters?: ParametersOf<P, M>] : [parameters: ParametersOf<P, M>];

/** The body that an operation takes. */
export type BodyOf<P extends string, M extends Method> =
  Operation<P, M> extends { requestBody?: infer Body }
    ? NonNullable<Body> extends { content: infer Content }
      ? Content[keyof Content]
      : never
    : never;

/** The paths to post to without a body. */
export type WithoutBody = {
  [P in PathOf<"post">]: Operation<P, "post"> extends { requestBody: { content: unknown } } ? never : P;
}[PathOf<"post">];

type Success<Responses> = Responses extends { 200: { content: { "application/json": infer Body } } }
  ? Body
  : Responses extends { 201: { content: { "application/json": infer Body } } }
    ? Body
    : undefined;

/** The body that an operation answers if it succeeds. */
export type AnswerOf<P extends string, M extends Method> =
  Operation<P, M> extends { responses: infer Responses } ? Answer<Success<Responses>> : never;
