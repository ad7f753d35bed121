// The steps of a move, in their order.

export const steps = [
  { key: "service", name: "Former service" },
  { key: "chips", name: "Chips" },
  { key: "table", name: "Table" },
  { key: "unlisted", name: "Unlisted chips" },
  { key: "switch", name: "Switch over" },
] as const;

export type StepKey = (typeof steps)[number]["key"];

export const isStep = (key: string | undefined): key is StepKey => steps.some((step) => step.key === key);

/** The step after this one; the last one again after itself. */
export function nextAfter(key: StepKey): StepKey {
  const at = steps.findIndex((step) => step.key === key);
  return (steps[at + 1] ?? steps[at]!).key;
}
