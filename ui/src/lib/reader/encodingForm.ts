// How inlays are written: what the dialogs of one inlay and of a run choose, as the service wants it.

import type { Encoding, MacFrom, Mirror, Technology, UrlTemplate } from "../api/types";

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

/** The chips that a reader tells apart. */
const readable: Technology[] = ["ntag424dna", ...staticChips, "ultralight"];

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

/**
 * The members that finish an encoding as it was begun. What is for ever is asked for anew, on the tag's page: a
 * lock is not set, and `null` says that the chip is to be in LRP mode.
 */
export function finishFields(begun: Encoding): Record<string, unknown> | null {
  const { run_id, tag_id, url_template_id, mirror, mac_from, technology, own_keys, additional } = begun;
  if (run_id !== null) return { run_id };
  if (begun.mode === "lrp") return null;
  if (url_template_id !== null) return { tag_id, url_template_id, own_keys, additional };
  return mirror === null ? { tag_id, technology, additional } : { tag_id, mirror, mac_from, own_keys, additional };
}

/** What the service is asked before anything is written; with the chip that lies on the reader, as far as it is known. */
export function previewFields(
  form: EncodingForm,
  template: Pick<UrlTemplate, "id" | "technology" | "mode"> | null,
  lies: { state: string; uid: string | null; chip?: string; random_uid?: boolean } | null,
) {
  const fields = formFields(form, template);
  // What is for ever is shown before it is agreed to.
  const agreed = template?.mode === "lrp" && { lrp: true };
  const known = lies?.state === "inlay" && lies.uid?.length === 14 && !lies.random_uid;
  const chip = readable.find((one) => one === lies?.chip);
  return { ...fields, ...agreed, ...(known && { uid: lies.uid, ...(chip && { chip }) }) };
}
