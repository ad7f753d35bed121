// The members of a URL template in a form.

import type { MacStart, Mode, Technology, TemplateLookup, UrlTemplate } from "../../lib/api/types";
import { usualChip } from "../../lib/inlays/technologies";

export interface TemplateFields {
  name: string;
  template: string;
  technology: Technology;
  mode: Mode;
  mac_from: MacStart;
  /** `null` for the longest that fits. */
  ndef_prefix: number | null;
  enc_length: number | null;
  tamper_at: number | null;
  /** `unverified`: a chip without a MAC is found by its UID. */
  lookup: TemplateLookup | null;
}

export const blank = (): TemplateFields => ({
  name: "",
  template: "",
  technology: usualChip,
  mode: "aes",
  mac_from: "none",
  ndef_prefix: null,
  enc_length: null,
  tamper_at: null,
  lookup: null,
});

export const fieldsOf = ({
  name,
  template,
  technology,
  mode,
  mac_from,
  ndef_prefix,
  enc_length,
  tamper_at,
  lookup,
}: UrlTemplate): TemplateFields => ({
  name,
  template,
  technology,
  mode,
  mac_from,
  ndef_prefix,
  enc_length,
  tamper_at,
  lookup,
});
