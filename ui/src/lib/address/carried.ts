// The numbers of inlays and printed codes that contain the present address.

import { get } from "../api/client";

export interface Carried {
  inlays: number;
  codes: number;
}

export async function carried(): Promise<Carried> {
  const { items, printed_codes } = await get("/tag-url/carried");
  const inlays = items.filter(({ in_force }) => in_force).reduce((sum, { inlays }) => sum + inlays, 0);
  return { inlays, codes: printed_codes };
}
