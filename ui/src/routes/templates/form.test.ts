import { expect, test } from "vitest";
import { Problem } from "../../lib/api/client";
import { atItsField } from "./form";

const refused = (field: string, message: string) => (atItsField(new Problem(422, message, "invalid", [{ field, message }])) as Problem).errors[0];

test("what is wrong stands at the field that the refusal names", () => {
  expect(refused("template", "mac_from: the MAC's input begins at or before {mac}.")).toEqual({ field: "mac_from", message: "The MAC's input begins at or before {mac}." });
  expect(refused("template", "Character 3: a brace stands alone.")).toEqual({ field: "template", message: "Character 3: a brace stands alone." });
  expect(refused("name", "mode: no")).toEqual({ field: "name", message: "mode: no" });
  const other = new Error("The service does not answer.");
  expect(atItsField(other)).toBe(other);
});
