// Filters of a list for its chips. Their values are in the address.

/** A choice: its value, its name, and its heading. */
export type Choice = readonly [value: string, words: string, group?: string];

export interface Filter {
  /** The name of the filter: "Status". */
  name: string;
  /** The value of the chosen one; empty if the filter is not active. */
  value: string;
  choices: readonly Choice[];
  choose: (value: string) => void;
}

/** The name of a filter's choice. An unknown value from the address is shown as it is. */
export const chosenWords = ({ value, choices }: Pick<Filter, "value" | "choices">): string =>
  choices.find(([one]) => one === value)?.[1] ?? value;

/** Choices under their headings, in their order. */
export function grouped(choices: readonly Choice[]): [heading: string, choices: Choice[]][] {
  const groups = new Map<string, Choice[]>();
  for (const choice of choices) groups.set(choice[2] ?? "", [...(groups.get(choice[2] ?? "") ?? []), choice]);
  return [...groups];
}
