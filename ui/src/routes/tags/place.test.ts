import { expect, test } from "vitest";
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
