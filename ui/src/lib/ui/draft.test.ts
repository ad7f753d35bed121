import { expect, test, vi } from "vitest";
import { Problem } from "../api/client";
import { Draft } from "./draft.svelte";

vi.mock("../shell/desktop", () => ({ serviceBase: () => "" }));

const stored = { name: "Bottle", status: "active", rules: [{ to: "a" }] };

test("only what was edited is sent", () => {
  const draft = new Draft(stored);
  expect(draft.changed).toBe(false);
  draft.form.name = "Flask";
  expect(draft.changes).toEqual({ name: "Flask" });
  draft.form.name = "Bottle";
  expect(draft.changed).toBe(false);
});

test("a field that nobody touched follows what others change", () => {
  const draft = new Draft(stored);
  draft.form.name = "Flask";
  draft.follow({ ...stored, status: "archived" });
  expect(draft.form.status).toBe("archived");
  expect(draft.form.name).toBe("Flask");
  expect(draft.changes).toEqual({ name: "Flask" });
  expect(draft.theirs).toEqual({});
});

test("another's change of a field that was edited is kept beside it", () => {
  const draft = new Draft(stored);
  draft.form.name = "Flask";
  draft.follow({ ...stored, name: "Jar" });
  expect(draft.form.name).toBe("Flask");
  expect(draft.theirs).toEqual({ name: "Jar" });
  draft.follow({ ...stored, name: "Jar", status: "archived" });
  expect(draft.theirs).toEqual({ name: "Jar" });
  draft.take("name");
  expect(draft.form.name).toBe("Jar");
  expect(draft.theirs).toEqual({});
  expect(draft.changed).toBe(false);
});

test("the same change by two is no conflict", () => {
  const draft = new Draft(stored);
  draft.form.name = "Jar";
  draft.follow({ ...stored, name: "Jar" });
  expect(draft.theirs).toEqual({});
  expect(draft.changed).toBe(false);
});

test("what is given up is what is stored now", () => {
  const draft = new Draft(stored);
  draft.form.rules[0]!.to = "b";
  expect(draft.changes).toEqual({ rules: [{ to: "b" }] });
  draft.follow({ ...stored, rules: [{ to: "c" }] });
  draft.revert();
  expect(draft.form.rules).toEqual([{ to: "c" }]);
  expect(draft.theirs).toEqual({});
  expect(stored.rules).toEqual([{ to: "a" }]);
});

test("what the service writes differently as it saves is no change of another", async () => {
  const draft = new Draft(stored);
  draft.form.name = " Flask ";
  const saved = await draft.save(async (changes) => {
    expect(changes).toEqual({ name: " Flask " });
    draft.follow({ ...stored, name: "Flask" });
    return { ...stored, name: "Flask" };
  });
  expect(saved).toBe(true);
  expect(draft.form.name).toBe("Flask");
  expect(draft.theirs).toEqual({});
  expect(draft.changed).toBe(false);
});

test("what is typed while a save runs stays an edit", async () => {
  const draft = new Draft(stored);
  draft.form.name = "Flask";
  await draft.save(async () => {
    draft.form.name = "typed on";
    return { ...stored, name: "Flask" };
  });
  expect(draft.changes).toEqual({ name: "typed on" });
  expect(draft.theirs).toEqual({});
});

test("a refused save keeps what was typed, with the reason, until it is reverted or saved", async () => {
  const draft = new Draft(stored);
  draft.form.name = "";
  expect(await draft.save(() => Promise.reject(new Error("A name cannot be empty.")))).toBe(false);
  expect([draft.form.name, draft.problem, draft.saving]).toEqual(["", "A name cannot be empty.", false]);
  draft.revert();
  expect([draft.form.name, draft.problem]).toEqual(["Bottle", null]);
});

test("a second save waits for the end of the first", async () => {
  const draft = new Draft(stored);
  draft.form.name = "Flask";
  let saves = 0;
  const send = async () => (saves++, { ...stored, name: "Flask" });
  expect(await Promise.all([draft.save(send), draft.save(send)])).toEqual([true, false]);
  expect(saves).toBe(1);
});

test("the undo of a save updates the form", async () => {
  const draft = new Draft(stored);
  draft.form.name = "Flask";
  await draft.save(async (changes) => ({ ...stored, ...changes }));
  draft.follow(stored);
  expect(draft.form.name).toBe("Bottle");
  expect(draft.changed).toBe(false);
});

test("members are added and removed like properties of a tag", () => {
  const draft = new Draft<Record<string, string | null>>({ owner: "Ann", city: "Bern" });
  draft.form.owner = null;
  draft.form.colour = "red";
  expect(draft.changes).toEqual({ owner: null, colour: "red" });
  draft.follow({ owner: "Ben", city: "Bern", added: "by another" });
  expect(draft.form.added).toBe("by another");
  expect(draft.theirs).toEqual({ owner: "Ben" });
  draft.follow({ owner: "Ben", added: "by another" });
  expect("city" in draft.form).toBe(false);
  draft.revert();
  expect(draft.form).toEqual({ owner: "Ben", added: "by another" });
});

test("what did not change is not put in its own place", () => {
  const draft = new Draft(stored);
  const rules = draft.form.rules;
  draft.follow(structuredClone(stored));
  expect(draft.form.rules).toBe(rules);
});

test("what is wrong with a field is said at the field, and everything else for the form", async () => {
  const draft = new Draft(stored);
  draft.form.name = "";
  await draft.save(() => Promise.reject(new Problem(422, "The name is missing.", null, [{ field: "name", message: "Give it a name." }])));
  expect([draft.wrong, draft.general]).toEqual([{ name: "Give it a name." }, null]);
  await draft.save(() => Promise.reject(new Problem(503, "The disk is full.")));
  expect([draft.wrong, draft.general]).toEqual([{}, "The disk is full."]);
});

test("the undo of a part ends with the edit that it belongs to", () => {
  const draft = new Draft(stored);
  const ended: string[] = [];
  draft.onDiscard("rules", () => ended.push("rules"));
  draft.onDiscard("name", () => ended.push("name"));
  draft.take("name");
  expect(ended).toEqual(["name"]);
  draft.revert();
  draft.revert();
  expect(ended).toEqual(["name", "rules"]);
});
