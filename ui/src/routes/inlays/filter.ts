// The filters of the list of inlays, in the form of the address.

import type { Technology } from "../../lib/api/types";
import { uidOf } from "../../lib/inlays/uid";

type Shown = Record<string, string>;

const FILTERS = ["uid", "chip", "template", "master", "factory", "exhausted", "unbound", "blocked", "address"];

/** Whether a filter is active. */
export const isFiltered = (shown: Shown) => FILTERS.some((name) => shown[name]);

/** The query to the service. `simulated` selects the inlays of the demo world. */
export function listQuery({ uid, chip, template, master, factory, exhausted, unbound, blocked, address }: Shown, simulated: boolean) {
  const whole = uidOf(uid);
  return {
    ...(whole && { uid: whole }),
    ...(chip && { technology: chip as Technology }),
    ...(template && { url_template_id: Number(template) }),
    ...(master && { master_key_id: Number(master) }),
    ...(factory && { factory_keys: factory === "true" }),
    ...(exhausted && { exhausted: exhausted === "true" }),
    ...(unbound && { unbound: unbound === "true" }),
    ...(blocked && { blocked: blocked === "true" }),
    ...(address && { carried_tag_url: address }),
    simulated,
  };
}
