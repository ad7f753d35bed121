/** The parameters of the address that narrow the list down. */
export const narrowing = ["q", "verification", "consent", "experience", "tag"] as const;
