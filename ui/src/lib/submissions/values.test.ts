import { expect, it } from "vitest";
import type { Submission } from "../api/types";
import { inShort, inWords } from "./values";

const field = (kind: Submission["fields"][number]["kind"], value: string) => ({ label: kind, variable: kind, kind, value });
const sent = (...fields: Submission["fields"]) => ({ fields }) as Submission;

it("says in one line what was written, and what was chosen if nothing was", () => {
  expect(inShort(sent(field("text", "Ada\nLovelace"), field("email", ""), field("consent", "true")))).toBe("Ada Lovelace");
  expect(inShort(sent(field("checkbox", "false"), field("text", "")))).toBe("checkbox: No · text: —");
});

it("says yes and no only of a checkbox", () => {
  expect(inWords(field("consent", "true"))).toBe("Yes");
  expect(inWords(field("checkbox", ""))).toBe("No");
  expect(inWords(field("text", "true"))).toBe("true");
});
