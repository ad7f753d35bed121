// The form of a slug: 1 to 64 of these characters, and neither "." nor "..".

/** The form of a slug, for the `pattern` of a field. */
export const SLUG_PATTERN = "(?!\\.{1,2}$)[A-Za-z0-9._~\\-]{1,64}";

/** Whether a tag can have this slug, unless the service needs the word itself. */
export const isSlug = (text: string) => new RegExp(`^${SLUG_PATTERN}$`).test(text);

/** Whether a slug is so short that it can be guessed. */
export const isGuessable = (slug: string) => slug !== "" && slug.length < 8;
