import { expect, it } from "vitest";
import { choicesOf, exampleOf } from "./sources";

const preset = (name: string) => ({ name, title: name.toUpperCase(), about: `Of ${name}.` });

it("a service that only the API knows is offered with its own words, before the own list", () => {
  const choices = choicesOf([preset("csv"), preset("newcomer"), preset("boltcard"), preset("ixkio")]);
  expect(choices.map(({ name }) => name)).toEqual(["ixkio", "boltcard", "newcomer", "csv"]);
  expect(choices[2]).toEqual({ name: "newcomer", title: "NEWCOMER", about: "Of newcomer." });
});

it("each source has an example", () => {
  expect(exampleOf("boltcard")).toContain("p=");
  expect(exampleOf("newcomer")).toContain("picc_data");
});
