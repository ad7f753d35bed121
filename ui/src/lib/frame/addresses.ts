// Addresses of things that share a screen with things of another kind.

/** The part of an address that names a thing, which begins with its kind, and the id that such a part names. */
const named = (kind: string) => ({
  address: (id: number): string => kind + String(id),
  /** `null` if it names a thing of another kind. */
  at: (selected: string | null): number | null => (selected?.startsWith(kind) ? Number(selected.slice(kind.length)) || null : null),
});

/** Factory orders on the encode screen, beside runs. */
export const { address: orderAddress, at: orderAt } = named("order-");

/** Groups on the screen of the tags. */
export const { address: groupAddress, at: groupAt } = named("group-");
