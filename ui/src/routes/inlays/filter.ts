// The filters of the list of inlays, as the address has them.

import { uidOf } from "../../lib/inlays/uid";

type Shown = Record<string, string>;

const FILTERS = ["uid", "template", "master", "unbound", "blocked"];

/** Whether the list is narrowed. */
export const isFiltered = (shown: Shown) => FILTERS.some((name) => shown[name]);

/** The query of the service. */
export function listQuery({ uid, template, master, unbound, blocked }: Shown) {
  const whole = uidOf(uid);
  return {
    ...(whole && { uid: whole }),
    ...(template && { url_template_id: Number(template) }),
    ...(master && { master_key_id: Number(master) }),
    ...(unbound && { unbound: unbound === "true" }),
    ...(blocked && { blocked: blocked === "true" }),
  };
}
