// The jobs at a reader, as a page to print: `field-jobs.md` in the guides has the same sentences.

export interface Job {
  title: string;
  /** The actions of a person, in order. */
  steps: readonly string[];
}

export const jobs = {
  encode: {
    title: "Encode a roll",
    steps: [
      "Connect the reader, and open the run under Encode. If there is none, create it with New run.",
      "Place a chip on the reader, and leave it there until you see and hear the result.",
      "Green, Encoded: take the next chip. Keep the finished ones in their order.",
      "Yellow: read the text. The address did not open, or the chip was encoded before.",
      "Red: read the text, and put the chip aside. The next chip gets its tag.",
      "Striped, Not the same chip: keep it apart, and report it. It may imitate another chip.",
      "Press P to pause. When the roll is done, close the run in its menu.",
    ],
  },
  test: {
    title: "Test a delivery",
    steps: [
      "Connect the reader, and open the sheet under Test sheets. If there is none, create it with New sheet.",
      "Place an inlay on the reader, wait for the verdict, and take the next. No key and no click is needed.",
      "Green, Good: put it with the good ones.",
      "Yellow: the inlay works. Note it, and read the text.",
      "Red: put it aside. The text says why.",
      "Striped, Copied URL: keep it apart. It may be a forgery.",
      "At the end, compare the number of tested inlays with the delivery note. Press Sign off, and enter your name.",
      "Press Save PDF: the file is the report to hand over.",
    ],
  },
  "goods-in": {
    title: "Goods-in of a factory order",
    steps: [
      "Import the report of the bureau first: open the order under Encode, Factory orders, and press Import report.",
      "Go back to Factory orders, and place a chip on the reader. Tapdesk opens the order of this chip.",
      "Compare the name of the order with the delivery note. If it is wrong, choose another one under Another order.",
      "Press Give it own keys. Each further chip that you place on the reader gets its own keys without a click.",
      "Green: put it with the good ones. Yellow: read the text. Red: put it aside, and report it to the bureau.",
      "Striped, Not the same chip: keep it apart, and report it to the bureau. It has the factory key, or imitates another chip.",
      "The order is done when no chip has bureau keys.",
    ],
  },
} as const satisfies Record<string, Job>;

export type JobName = keyof typeof jobs;

/** Faults of every job, each with the way out. */
export const faults: readonly string[] = [
  "Blue, or a chip was removed too early: place it on the reader again. It is finished where it was interrupted.",
  "The reader is not found: unplug it, and plug it in again. Then open Reader, Reader doctor, and follow its text.",
  "The network or the service fails: Tapdesk says so. Wait until it is back, then place the last chip again. Each result that you heard is stored.",
  "The computer was switched off: open the run, the sheet or the order again. It continues where it was.",
];
