// The tags of an experience, to encode them one after the other.

import { get } from "../../lib/api/client";

/** Their ids, in the order in which they were created. */
export async function tagsOf(experience_id: number): Promise<number[]> {
  const ids: number[] = [];
  for (let after: string | null = ""; after !== null;) {
    const page: { items: { id: number }[]; next: string | null } = await get("/tags", { experience_id, limit: 500, after });
    ids.push(...page.items.map(({ id }) => id));
    after = page.next;
  }
  return [...ids].sort((a, b) => a - b);
}
