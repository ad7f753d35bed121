/** The address parameters that filter the feed. */
export const narrowing = ["verification", "reason", "missed", "tamper", "tag", "group", "experience", "dates"] as const;
