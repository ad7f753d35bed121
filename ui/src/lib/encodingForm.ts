// How inlays are written: what the dialogs of one inlay and of a run choose, as the service wants it.

import type { MacFrom, Mirror, Technology, UrlTemplate } from "./api/types";
import { chipName } from "./inlays/technologies";

export interface EncodingForm {
  /** `ntag424dna` for Tapdesk's own form, a chip without keys for a static URL, or the id of a URL template. */
  choice: string;
  mirror: Mirror;
  macFrom: MacFrom;
  ownKeys: boolean;
  /** Chips without keys are locked against writing, for ever. */
  lock: boolean;
  /** Chips for a template of LRP mode are switched to it, for ever. */
  lrp: boolean;
}

/** The chips without keys that Tapdesk writes. */
export const staticChips: Technology[] = ["ntag213", "ntag215", "ntag216"];

export const newForm = (): EncodingForm => ({
  choice: "ntag424dna",
  mirror: "encrypted",
  macFrom: "none",
  ownKeys: false,
  lock: false,
  lrp: false,
});

/** Whether Tapdesk can write the chips of a template. */
export const isEncodable = ({ technology, template }: Pick<UrlTemplate, "technology" | "template">) =>
  (staticChips.includes(technology) || technology.startsWith("ntag424dna")) && !template.includes("{*}") && /\{(slug|uid)\}/.test(template);

/** Whether what cannot be undone was agreed to where the template asks for it. */
export const isAgreed = ({ lrp }: EncodingForm, template: Pick<UrlTemplate, "mode"> | null) => lrp || template?.mode !== "lrp";

/** The chip that a form is for. */
export const chipOf = ({ choice }: EncodingForm, template: Pick<UrlTemplate, "technology"> | null): Technology =>
  template?.technology ?? (choice as Technology);

/** The members of a new encoding, and of the plan of a run. */
export function formFields(form: EncodingForm, template: Pick<UrlTemplate, "id" | "technology" | "mode"> | null) {
  const { choice, mirror, macFrom, ownKeys, lock, lrp } = form;
  const withoutKeys = staticChips.includes(chipOf(form, template));
  const keys = withoutKeys ? { lock } : { own_keys: ownKeys };
  if (template) return { url_template_id: template.id, ...keys, ...(template.mode === "lrp" && { lrp }) };
  if (withoutKeys) return { technology: choice as Technology, ...keys };
  return { mirror, mac_from: macFrom, ...keys };
}

/** What will be on the chip, in words: names and texts. */
export function formWords(
  form: EncodingForm,
  template: Pick<UrlTemplate, "technology" | "template" | "mode" | "tamper_at"> | null,
  url: string,
): [string, string][] {
  const chip = chipOf(form, template);
  const withoutKeys = staticChips.includes(chip);
  const counted = template !== null && /\{(uid|counter)\}/.test(template.template);
  const tap = withoutKeys
    ? counted
      ? "The chip writes its UID or counter into the URL, in clear. Anyone can write the same: taps are counted, never verified."
      : "The URL is always the same. Its taps are not checked."
    : "The chip writes its code into the URL, as the template says.";
  const keys = form.ownKeys
    ? "All five become random keys of this chip alone."
    : "All five become keys of this chip alone, derived from the encoding root.";
  const access = form.lock
    ? "Nobody can write this chip again, ever: not its URL, and not another one. It cannot be wiped."
    : "Anyone with a phone can write this chip. Lock it, or wipe it later.";
  const forEver: [string, string][] = [];
  if (template?.mode === "lrp") {
    forEver.push(["Mode", "LRP, for ever: from then on the chip takes URLs of LRP mode alone, and it cannot be wiped."]);
  }
  if (template && chip === "ntag424dna_tt" && (template.tamper_at !== null || template.template.includes("{tamper}"))) {
    forEver.push(["Tamper loop", "Measured from then on, for ever: each tap tells whether the loop is open, or was."]);
  }
  return [
    ["Chip", chipName(chip)],
    ["URL", url],
    ["On each tap", tap],
    ...(withoutKeys ? ([["Write access", access]] as [string, string][]) : ([["Keys", keys]] as [string, string][])),
    ...forEver,
  ];
}
