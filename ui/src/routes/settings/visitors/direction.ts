// The direction in which a language is written.

/** The languages of the service's texts that are written from right to left, and their neighbours. */
const rightToLeft = ["ar", "he", "fa", "ur", "yi", "ps", "sd", "ug", "dv", "ckb"];

export const isRightToLeft = (language: string): boolean => rightToLeft.includes(language.split("-")[0]!.toLowerCase());
