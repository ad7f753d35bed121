/** The address parameters that filter the feed. */
export const narrowing = ["verification", "reason", "missed", "tamper", "tag"] as const;
