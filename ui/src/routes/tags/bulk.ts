import { post } from "../../lib/api/client";
import { counted } from "../../lib/format";
import { notices } from "../../lib/notices.svelte";

interface Changed {
  count: number;
  /** The requests that restore what was. */
  undo: unknown[];
}

/** Does something to many tags at once, and offers to undo it. */
export async function bulk(request: Record<string, unknown>, done: string, after: () => Promise<void>): Promise<void> {
  const changed = await post<Changed>("/tags/bulk", request);
  await after();
  const undo = async () => {
    for (const step of changed.undo) await post("/tags/bulk", step);
    await after();
  };
  notices.done(`${counted(changed.count, "tag")} ${done}.`, changed.undo.length > 0 ? undo : undefined);
}
