import { expect, test, vi } from "vitest";

vi.mock("../stores/rights.svelte", () => ({ rights: { may: () => true, limited: false } }));

const { entryOf, navigation } = await import("./navigation");

test("a place belongs to one entry: the kiosk is no other part of the settings", () => {
  expect(entryOf({ screen: "settings", selected: "kiosk" })?.name).toBe("Kiosk");
  expect(entryOf({ screen: "settings", selected: "tokens" })?.name).toBe("Settings");
  expect(entryOf({ screen: "settings", selected: null })?.name).toBe("Settings");
  expect(entryOf({ screen: "tags", selected: "41" })?.name).toBe("Tags");
  expect(entryOf({ screen: "move", selected: null })?.name).toBe("Tags");
  expect(entryOf({ screen: "unlisted", selected: null })?.name).toBe("Inlays");
});

test("no two entries have a key or a name in common", () => {
  const entries = navigation.flat();
  for (const of of ["key", "name"] as const) expect(new Set(entries.map((entry) => entry[of])).size).toBe(entries.length);
});
