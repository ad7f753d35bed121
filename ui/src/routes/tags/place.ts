// A tag's location in the flat shape of a form.

import type { Location } from "../../lib/api/types";

export const nowhere = (): Location => ({
  id: 0,
  street: "",
  dma: 0,
  lat: 0,
  lon: 0,
  stationary: false,
  data: {},
  user_data: [],
  system: [],
  venue: { type: { id: 0, name: "", stationary: 0 }, name: "" },
  asset: { type: { id: 0, name: "", stationary: 0 }, id: "" },
});

export const labels = {
  street: "Street and number",
  lat: "Latitude",
  lon: "Longitude",
  venue_name: "Venue",
  venue_type: "Type of venue",
  asset_id: "Asset",
  asset_type: "Type of asset",
  dma: "Market area",
  stationary: "Stationary",
};

/** A tag without a location has no coordinates, because 0 is a valid place. */
export function placeOf(location: Location | null) {
  const { street, lat, lon, dma, stationary, venue, asset } = location ?? nowhere();
  return {
    street,
    lat: location && lat,
    lon: location && lon,
    venue_name: venue.name,
    venue_type: venue.type.name,
    asset_id: asset.id,
    asset_type: asset.type.name,
    dma,
    stationary,
  };
}

export type PlaceForm = ReturnType<typeof placeOf>;

/** The edited members in the service's nested form. */
export function nested({ venue_name, venue_type, asset_id, asset_type, lat, lon, ...plain }: Partial<PlaceForm>) {
  const named = (member: string, value: string | undefined, type: string | undefined) => ({
    ...(value !== undefined && { [member]: value }),
    ...(type !== undefined && { type: { name: type } }),
  });
  const venue = named("name", venue_name, venue_type);
  const asset = named("id", asset_id, asset_type);
  return {
    ...plain,
    ...(lat != null && { lat }),
    ...(lon != null && { lon }),
    ...(Object.keys(venue).length > 0 && { venue }),
    ...(Object.keys(asset).length > 0 && { asset }),
  };
}

/** `location` with the edited members. */
export const withPlace = (location: Location, changes: Partial<PlaceForm>): Location => {
  const { venue_name, venue_type, asset_id, asset_type, lat, lon, ...plain } = { ...placeOf(location), ...changes };
  return {
    ...location,
    ...plain,
    lat: lat ?? location.lat,
    lon: lon ?? location.lon,
    venue: { name: venue_name, type: { ...location.venue.type, name: venue_type } },
    asset: { id: asset_id, type: { ...location.asset.type, name: asset_type } },
  };
};
