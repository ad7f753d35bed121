// The hosts of the reels, which have to lead here.

import type { UrlTemplate } from "../../lib/api/types";
import { hostOf } from "../../lib/inlays/urlTemplate";

export interface Host {
  /** As a DNS record has it: "*.tags.example.com" for hosts that contain slugs. */
  name: string;
  /** The address that a check opens, such as `https://tags.example.com/t`. */
  address: string;
  reels: UrlTemplate[];
}

/** The schemes of wallets, which open such URLs by HTTPS. */
const WALLETS = /^(lnurl[a-z]*|keyauth):/i;

/** The hosts of these reels, each once, in their order. */
export function hostsOf(reels: readonly UrlTemplate[]): Host[] {
  const hosts = new Map<string, Host>();
  for (const reel of reels) {
    const name = hostOf(reel.template).replace("{slug}", "*");
    const scheme = /^http:/i.test(reel.template) ? "http" : "https";
    const host = hosts.get(name) ?? { name, address: `${scheme}://${reel.host}/t`, reels: [] };
    host.reels.push(reel);
    hosts.set(name, host);
  }
  return [...hosts.values()];
}

/** Whether URLs of a template are opened by a wallet, and not by the phone's browser. */
export const isOfWallets = ({ template }: Pick<UrlTemplate, "template">): boolean => WALLETS.test(template);

/** The reels with a tap that settles them, by their templates: whether it was verified. */
export type Arrived = Record<number, boolean>;

/** The end of the move: most chips prove their taps, and others have no code that is checked. */
export function arrivedWords(reels: readonly Pick<UrlTemplate, "id" | "name">[], arrived: Arrived): string {
  const all = reels.length === 1 ? "the reel" : `each of the ${reels.length} reels`;
  const unproved = reels.filter(({ id }) => !arrived[id]).map(({ name }) => name);
  if (unproved.length === 0) return `A tap of ${all} was verified here.`;
  return `A tap of ${all} arrived here. Taps of ${unproved.join(", ")} have no code that is checked, so they cannot be verified.`;
}
