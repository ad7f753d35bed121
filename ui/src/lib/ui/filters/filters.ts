// Filters of a list, as its chips show them. Their values are in the address.

/** A choice: its value, its words, and the heading that it stands under. */
export type Choice = readonly [value: string, words: string, group?: string];

export interface Filter {
  /** What it narrows: "Status". */
  name: string;
  /** The value of the chosen one; empty if it narrows nothing. */
  value: string;
  choices: readonly Choice[];
  choose: (value: string) => void;
}

/** The words of a filter's choice. A value that somebody wrote into the address stands for itself. */
export const chosenWords = ({ value, choices }: Pick<Filter, "value" | "choices">): string =>
  choices.find(([one]) => one === value)?.[1] ?? value;

/** Choices under their headings, in their order. */
export function grouped(choices: readonly Choice[]): [heading: string, choices: Choice[]][] {
  const groups = new Map<string, Choice[]>();
  for (const choice of choices) groups.set(choice[2] ?? "", [...(groups.get(choice[2] ?? "") ?? []), choice]);
  return [...groups];
}
