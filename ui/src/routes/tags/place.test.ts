import { expect, test } from "vitest";
import { Draft } from "../../lib/ui/draft.svelte";
import { nested, nowhere, placeOf, withPlace } from "./place";

test("only the edited members of a location are sent", () => {
  expect(nested({ street: "Hauptstraße 3" })).toEqual({ street: "Hauptstraße 3" });
  expect(nested({ venue_type: "shop", asset_id: "A-1" })).toEqual({ venue: { type: { name: "shop" } }, asset: { id: "A-1" } });
  expect(nested({})).toEqual({});
});

test("what the form does not show stays in the location", () => {
  const stored = { ...nowhere(), id: 7, data: { floor: "2" }, venue: { name: "Bakery", type: { id: 3, name: "shop", stationary: 1 } } };
  const edited = withPlace(stored, { venue_name: "Café" });
  expect(edited).toEqual({ ...stored, venue: { ...stored.venue, name: "Café" } });
  expect(placeOf(edited).venue_name).toBe("Café");
});

test("0° is a coordinate like any other, and a tag without a location has none", () => {
  const draft = new Draft(placeOf(null));
  expect([draft.form.lat, draft.form.lon]).toEqual([null, null]);
  Object.assign(draft.form, { lat: 0, lon: 0 });
  expect(draft.changes).toEqual({ lat: 0, lon: 0 });
  expect(withPlace(nowhere(), draft.changes)).toMatchObject({ lat: 0, lon: 0 });
  expect(nested({ lat: 0, lon: 0 })).toEqual({ lat: 0, lon: 0 });
  expect(placeOf({ ...nowhere(), lat: 0, lon: 9.99 })).toMatchObject({ lat: 0, lon: 9.99 });
});
