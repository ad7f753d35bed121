// Errors of settings, as their fields show them.

/** The sentence of an error, without the name of its member, which the form shows itself. */
export const sentenceOf = (message: string | undefined): string | null => message?.replace(/^(app_links|pages)\S*: /, "") ?? null;
