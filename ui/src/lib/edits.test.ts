import { expect, test } from "vitest";
import { Edits } from "./edits.svelte";

const stored = { name: "Bottle", status: "active", rules: [{ to: "a" }] };

test("only what was edited is sent", () => {
  const edits = new Edits(stored);
  expect(edits.changed).toBe(false);
  edits.form.name = "Flask";
  expect(edits.changes).toEqual({ name: "Flask" });
  edits.form.name = "Bottle";
  expect(edits.changed).toBe(false);
});

test("a field that nobody touched follows what others change", () => {
  const edits = new Edits(stored);
  edits.form.name = "Flask";
  edits.follow({ ...stored, status: "archived" });
  expect(edits.form.status).toBe("archived");
  expect(edits.form.name).toBe("Flask");
  expect(edits.changes).toEqual({ name: "Flask" });
  expect(edits.theirs).toEqual({});
});

test("another's change of a field that was edited is kept beside it", () => {
  const edits = new Edits(stored);
  edits.form.name = "Flask";
  edits.follow({ ...stored, name: "Jar" });
  expect(edits.form.name).toBe("Flask");
  expect(edits.theirs).toEqual({ name: "Jar" });
  edits.follow({ ...stored, name: "Jar", status: "archived" });
  expect(edits.theirs).toEqual({ name: "Jar" });
  edits.take("name");
  expect(edits.form.name).toBe("Jar");
  expect(edits.theirs).toEqual({});
  expect(edits.changed).toBe(false);
});

test("the same change by two is no conflict", () => {
  const edits = new Edits(stored);
  edits.form.name = "Jar";
  edits.follow({ ...stored, name: "Jar" });
  expect(edits.theirs).toEqual({});
  expect(edits.changed).toBe(false);
});

test("what is given up is what is stored now", () => {
  const edits = new Edits(stored);
  edits.form.rules[0]!.to = "b";
  expect(edits.changes).toEqual({ rules: [{ to: "b" }] });
  edits.follow({ ...stored, rules: [{ to: "c" }] });
  edits.discard();
  expect(edits.form.rules).toEqual([{ to: "c" }]);
  expect(edits.theirs).toEqual({});
  expect(stored.rules).toEqual([{ to: "a" }]);
});

test("what the service writes differently as it saves is no change of another", () => {
  const edits = new Edits(stored);
  edits.form.name = " Flask ";
  const sent = edits.changes;
  edits.follow({ ...stored, name: "Flask" });
  edits.settle(sent, { ...stored, name: "Flask" });
  expect(edits.form.name).toBe("Flask");
  expect(edits.theirs).toEqual({});
  edits.form.name = "typed on";
  edits.settle(sent, { ...stored, name: "Flask" });
  expect(edits.form.name).toBe("typed on");
});

test("what did not change is not put in its own place", () => {
  const edits = new Edits(stored);
  const rules = edits.form.rules;
  edits.follow(structuredClone(stored));
  expect(edits.form.rules).toBe(rules);
});
