// Counts of everything that leads phones to a port of this computer, in words.

import type { Carriers } from "../shell/desktop";
import { agreeing, counted } from "../format/format";

export const anyCarriers = ({ inlays, labels, phones }: Carriers): boolean => inlays > 0 || labels > 0 || phones;

/** "reaches" for one chip or code, "reach" for more. */
export const carriersDo = ({ inlays, labels, phones }: Carriers, one: string, many: string): string =>
  agreeing(inlays + labels + (phones ? 2 : 0), one, many);

/** "12 chips, 3 printed codes and phones on this network". */
export function carriersWords({ inlays, labels, phones }: Carriers): string {
  const named = [
    ...(inlays > 0 ? [counted(inlays, "chip")] : []),
    ...(labels > 0 ? [counted(labels, "printed code")] : []),
    ...(phones ? ["phones on this network"] : []),
  ];
  const words = [named.slice(0, -1).join(", "), named.at(-1) ?? ""].filter(Boolean).join(" and ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
