import { expect, test } from "vitest";
import { Problem } from "../api/client";
import { placesOf, wrongOf } from "./wrong";

const refused = (...errors: [field: string, message: string][]) =>
  new Problem(
    422,
    "The body is invalid.",
    null,
    errors.map(([field, message]) => ({ field, message })),
  );

test("an error goes to the field of its name", () => {
  expect(wrongOf(refused(["name", "It is empty."]), ["slug", "name"])).toEqual({ fields: { name: "It is empty." }, general: null });
});

test("a deeper name finds its field, and so does one that leads into it", () => {
  const wrong = wrongOf(refused(["location.lat", "Too far north."], ["rules[1].target_url", "No URL."], ["plan.tags[3]", "No tag."]), [
    "lat",
    "rules",
    "tags",
  ]);
  expect(wrong).toEqual({ fields: { lat: "Too far north.", rules: "No URL.", tags: "No tag." }, general: null });
});

test("a field that is named in full goes before one that only ends like it", () => {
  expect(wrongOf(refused(["tag.name", "It is empty."]), ["name", "tag.name"]).fields).toEqual({ "tag.name": "It is empty." });
});

test("what no field shows is said for the whole form, beside what fields show", () => {
  expect(wrongOf(refused(["name", "It is empty."], ["kind", "It is unknown."]), ["name"])).toEqual({
    fields: { name: "It is empty." },
    general: "It is unknown.",
  });
});

test("two faults of a field are both said", () => {
  expect(wrongOf(refused(["name", "It is empty."], ["name", "It is taken."]), ["name"]).fields).toEqual({
    name: "It is empty. It is taken.",
  });
});

test("an error without fields is of the whole form, whoever threw it", () => {
  expect(wrongOf(new Problem(503, "The disk is full."), ["name"])).toEqual({ fields: {}, general: "The disk is full." });
  expect(wrongOf(new Error("Choose an experience."), ["name"]).general).toBe("Choose an experience.");
});

test("an item of a list is found by the service's own name", () => {
  const error = refused(["blocks[2]", "Block 3 (text): No macro."], ["name", "It is empty."]);
  expect(placesOf(error)).toEqual({ "blocks[2]": "Block 3 (text): No macro.", name: "It is empty." });
  expect(placesOf(new Error("Choose an experience."))).toEqual({});
});
