/** The address parameters that filter the list. */
export const narrowing = ["q", "verification", "state", "consent", "experience", "group", "tag", "dates"] as const;
