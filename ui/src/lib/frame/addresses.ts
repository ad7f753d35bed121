// Addresses of things that share a screen with things of another kind.

const ORDER = "order-";

/** The part of the address of the encode screen that names a factory order. */
export const orderAddress = (id: number): string => `${ORDER}${id}`;

/** The factory order that a part of the address names; null if it names a run. */
export const orderAt = (selected: string | null): number | null =>
  selected?.startsWith(ORDER) ? Number(selected.slice(ORDER.length)) || null : null;
