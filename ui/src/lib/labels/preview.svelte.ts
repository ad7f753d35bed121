// The first label as the service prints it, while its choices change.

import { post } from "../api/client";
import type { LabelPreview, LabelRequest } from "../api/types";
import { wrongOf } from "../ui/wrong";

/** Pause after the last change, in milliseconds: typing does not ask for each letter. */
const PAUSE = 250;
/** Fields that show their own errors. */
const SHOWN = [
  "label_mm",
  "sheet.columns",
  "sheet.rows",
  "sheet.margin_mm",
  "sheet.gap_mm",
  "sheet.skip",
  "sheet",
  "text",
  "dpi",
  "qr.level",
  "qr.colour",
  "qr.capitals",
  "qr.logo",
];

export class Preview {
  shown = $state.raw<LabelPreview | null>(null);
  /** Errors by field. */
  fields = $state.raw<Record<string, string>>({});
  /** The error that no field shows. */
  general = $state<string | null>(null);
  busy = $state(false);
  #asked = 0;

  get wrong(): boolean {
    return this.general !== null || Object.keys(this.fields).length > 0;
  }

  /** Loads the preview of a request after a pause; for `$effect`. */
  follow(request: LabelRequest | null): () => void {
    const asked = ++this.#asked;
    this.busy = request !== null;
    const timer = setTimeout(() => request && void this.#load(request, asked), PAUSE);
    return () => clearTimeout(timer);
  }

  async #load(request: LabelRequest, asked: number): Promise<void> {
    try {
      const shown = await post("/labels/preview", request);
      if (asked === this.#asked) [this.shown, this.fields, this.general] = [shown, {}, null];
    } catch (error) {
      if (asked === this.#asked) ({ fields: this.fields, general: this.general } = wrongOf(error, SHOWN));
    } finally {
      if (asked === this.#asked) this.busy = false;
    }
  }
}
