// The first real tap of an inlay of a URL template.

import { get } from "../../lib/api/client";
import type { Interaction } from "../../lib/api/types";

/** The newest taps that are looked at each time. */
const NEWEST = 50;

/** Which template each inlay has, as far as it was asked. */
export class TemplateTaps {
  #of = new Map<number, number | null>();

  constructor(readonly template: number) {}

  /** The newest tap of the template: a verified one, if there is one. */
  async find(): Promise<Interaction | null> {
    const taps = (await get("/interactions", { limit: NEWEST })).items;
    const own: Interaction[] = [];
    for (const tap of taps) if (tap.inlay_id !== null && (await this.#templateOf(tap.inlay_id)) === this.template) own.push(tap);
    return own.find((tap) => tap.tag_verified === true) ?? own[0] ?? null;
  }

  async #templateOf(inlay: number): Promise<number | null> {
    const known = this.#of.get(inlay);
    if (known !== undefined) return known;
    const template = await get("/inlays/{id}", { id: inlay }).then(
      ({ url_template_id }) => url_template_id,
      () => null,
    );
    this.#of.set(inlay, template);
    return template;
  }
}
