// Unlisted chips, which the service names by their UIDs. Lists and addresses name things by numbers.

import type { UnlistedChip } from "../../lib/api/types";

export type Chip = UnlistedChip & { id: number };

/**
 * The UID as a number. It is exact: chips with AES codes are by NXP, whose UIDs have 7 bytes, and
 * begin with 04.
 */
export const idOf = (uid: string): number => Number.parseInt(uid, 16);

/** The UID of such a number. */
export const uidOfId = (id: number): string => id.toString(16).toUpperCase().padStart(14, "0");

export const identify = (chip: UnlistedChip): Chip => ({ ...chip, id: idOf(chip.uid) });
