// The factory order of a chip on the reader.

import { get } from "../../../lib/api/client";
import type { FactoryOrder } from "../../../lib/api/types";
import { uidOfChip } from "../../../lib/inlays/uid";
import type { Insertion } from "../../../lib/reader/readers.svelte";

/** Whether chips of the order still have keys of the bureau. */
export const awaitsChips = (order: Pick<FactoryOrder, "received_count" | "rekeyed_count">): boolean =>
  order.rekeyed_count < order.received_count;

/** Orders for a choice: those that wait for chips first, and otherwise the newest first, as they are. */
export const forGoodsIn = <T extends Pick<FactoryOrder, "received_count" | "rekeyed_count">>(orders: readonly T[]): T[] =>
  [...orders].sort((a, b) => Number(awaitsChips(b)) - Number(awaitsChips(a)));

/** The UID that identifies a chip; `null` if it could not be read, or is random. */
export const chipUid = (insertion: Insertion): string | null => (insertion.state === "inlay" ? uidOfChip(insertion) : null);

/** The orders for which the chip came back; a chip that was ordered again has several. */
export async function ordersOf(uid: string): Promise<FactoryOrder[]> {
  const { items } = await get("/factory-orders", { uid, limit: 20 });
  return forGoodsIn(items);
}
