// A page of any list of the service, with the types of that list.

import { get, type Page, type Query } from "../../api/client";
import type { AnswerOf, PathOf } from "../../api/operations";

/** The lists that the service returns page by page. */
export type ListPath = { [P in PathOf<"get">]: AnswerOf<P, "get"> extends Page<object> ? P : never }[PathOf<"get">];
/** An item with its id, which the list adds if the service has none. */
export type ItemOf<P extends ListPath> = AnswerOf<P, "get"> extends { items: (infer Item)[] } ? Item & { id: number } : never;

/** One page; the types of its parameters and items are those of the list. */
export const fetchPage = get as unknown as (path: string, query: Query) => Promise<Page<never>>;
