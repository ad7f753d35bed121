// Types of the OpenAPI document's operations, by path without `/admin/v1`.

import type { paths } from "./schema";
import type { Answer } from "./types";

export type Method = "get" | "post" | "put" | "patch" | "delete";
type Whole<P extends string> = `/admin/v1${P}` & keyof paths;
type Operation<P extends string, M extends Method> = paths[Whole<P>][M];

/** The paths that have an operation with this method. */
export type PathOf<M extends Method> = {
  [Path in keyof paths]: Path extends `/admin/v1${infer P}` ? (paths[Path][M] extends { responses: unknown } ? P : never) : never;
}[keyof paths];

/** Query parameters may be left out by any empty value. */
type InQuery<Q> = [NonNullable<Q>] extends [never] ? unknown : { [Name in keyof NonNullable<Q>]: NonNullable<Q>[Name] | null | "" };
type InPath<P> = [NonNullable<P>] extends [never] ? unknown : NonNullable<P>;

/** The path and query parameters of an operation, together. */
export type ParametersOf<P extends string, M extends Method> =
  Operation<P, M> extends { parameters: { path?: infer Path; query?: infer Q } } ? InPath<Path> & InQuery<Q> : never;

/** The parameters as the last argument of a call, which is left out if none is required. */
export type Given<P extends string, M extends Method> =
  object extends ParametersOf<P, M> ? [parameters?: ParametersOf<P, M>] : [parameters: ParametersOf<P, M>];

/** The request body of an operation. */
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

/** The response body of a successful operation. */
export type AnswerOf<P extends string, M extends Method> =
  Operation<P, M> extends { responses: infer Responses } ? Answer<Success<Responses>> : never;
