import { expect, test } from "vitest";
import guide from "../../../../service/docs/guides/field-jobs.md?raw";
import { faults, jobs } from "./jobs";

/** The lists of the guide by their headings, each entry in one line. */
const sections = new Map(
  guide
    .split(/^## /m)
    .slice(1)
    .map((section): [string, string[]] => {
      const [title = "", ...lines] = section.split("\n");
      const entries = lines.join("\n").split(/^(?:\d+\.|\*) /m);
      const plain = entries.slice(1).map((entry) => (entry.split("\n\n")[0] ?? "").replaceAll(/\s+/g, " ").trim());
      return [title, plain];
    }),
);

test("the guide has the sentences of each printed page", () => {
  for (const { title, steps } of Object.values(jobs)) expect(sections.get(title), title).toEqual(steps);
  expect(sections.get("If something fails")).toEqual(faults);
});

test("a page of encoding names each colour of a result", () => {
  for (const job of [jobs.encode, jobs["goods-in"]]) {
    const sentences = [...job.steps, ...faults].join(" ");
    for (const colour of ["Green", "Yellow", "Red", "Striped", "Blue"]) expect(sentences, job.title).toContain(colour);
  }
});
