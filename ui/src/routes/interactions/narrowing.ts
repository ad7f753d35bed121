/** The parameters of the address that narrow the feed down. */
export const narrowing = ["verification", "reason", "missed", "tamper", "tag"] as const;
