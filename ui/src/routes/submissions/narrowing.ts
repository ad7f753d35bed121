/** The address parameters that filter the list. */
export const narrowing = ["q", "verification", "state", "consent", "experience", "tag"] as const;
