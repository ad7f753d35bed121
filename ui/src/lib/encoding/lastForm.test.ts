import { beforeEach, expect, test, vi } from "vitest";
import { newForm } from "./encodingForm";
import { keepForm, lastForm } from "./lastForm";

const stored = vi.hoisted(() => ({ last: null as unknown }));
vi.mock("../window/kept", () => ({
  kept: () => ({ load: () => stored, save: (value: { last: unknown }) => Object.assign(stored, value) }),
}));
vi.mock("../inlays/technologies.svelte", () => ({
  technologies: { need: () => Promise.resolve(), find: (word: string) => (/^ntag/.test(word) ? { technology: word } : undefined) },
}));
vi.mock("../inlays/technologies", () => ({ isEncodable: () => true, usualChip: "ntag424dna" }));
vi.mock("../inlays/templates", () => ({
  templates: { load: () => Promise.resolve([{ id: 7, technology: "ntag424dna", template: "https://tags.example/{slug}" }]) },
}));

beforeEach(() => {
  stored.last = null;
});

test("the first inlay has the usual choice", async () => {
  expect(await lastForm()).toEqual(newForm());
});

test("the next inlay has the choice of the last one, but no permanent change", async () => {
  keepForm({ ...newForm(), choice: "ntag213", lock: true, lrp: true });
  expect(await lastForm()).toEqual({ ...newForm(), choice: "ntag213" });
  keepForm({ ...newForm(), choice: "7", ownKeys: true });
  expect(await lastForm()).toEqual({ ...newForm(), choice: "7", ownKeys: true });
});

test("a template or a chip that is gone gives the usual choice", async () => {
  keepForm({ ...newForm(), choice: "8", mirror: "plain" });
  expect(await lastForm()).toEqual(newForm());
  keepForm({ ...newForm(), choice: "a chip of a later version" });
  expect(await lastForm()).toEqual(newForm());
});
