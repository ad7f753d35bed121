// The choices for writing inlays, in the dialogs of one inlay and of a run, in the form of the
// service.

import type { Encoding, MacFrom, Mirror, Technology, UrlTemplate } from "../api/types";
import { chipName, chipWords, isEncodable as isWritten, usualChip } from "../inlays/technologies";
import { technologies } from "../inlays/technologies.svelte";
import { uidOfChip } from "../inlays/uid";

export interface EncodingForm {
  /**
   * The usual chip for one-time URLs in Tapdesk's own form, a chip without keys for a static URL, or
   * the id of a URL template.
   */
  choice: string;
  mirror: Mirror;
  macFrom: MacFrom;
  ownKeys: boolean;
  /** Whether chips without keys are locked against writing, permanently. */
  lock: boolean;
  /** Whether chips for a template in LRP mode are switched to it, permanently. */
  lrp: boolean;
}

export const newForm = (): EncodingForm => ({
  choice: usualChip,
  mirror: "encrypted",
  macFrom: "none",
  ownKeys: false,
  lock: false,
  lrp: false,
});

/** Whether Tapdesk can write the chips of a template. */
export const isEncodable = ({ technology, template }: Pick<UrlTemplate, "technology" | "template">) =>
  isWritten(technology) && !template.includes("{*}") && /\{(slug|uid)\}/.test(template);

/**
 * Whether a form can be sent: the chips are known, and permanent changes were agreed to, if the
 * template needs any. Without the chips, the members of a chip with keys would be sent for any chip.
 */
export const isReady = ({ lrp }: EncodingForm, template: Pick<UrlTemplate, "mode"> | null) =>
  technologies.all.length > 0 && (lrp || template?.mode !== "lrp");

/** The chip that a form is for. */
export const chipOf = ({ choice }: EncodingForm, template: Pick<UrlTemplate, "technology"> | null): Technology =>
  template?.technology ?? (choice as Technology);

/** The chip and the URL of a form in words: "NTAG 424 DNA, one-time URLs". */
export const choiceWords = (form: EncodingForm, template: Pick<UrlTemplate, "name" | "technology" | "mode"> | null): string =>
  template
    ? `${template.name} (${chipWords(template.technology, template.mode)})`
    : `${chipName(chipOf(form, null))}, ${form.choice === usualChip ? "one-time URLs" : "static URL"}`;

/** The members of a new encoding, and of the plan of a run. */
export function formFields(form: EncodingForm, template: Pick<UrlTemplate, "id" | "technology" | "mode"> | null) {
  const { mirror, macFrom, ownKeys, lock, lrp } = form;
  const chip = technologies.find(chipOf(form, template));
  const keys = { ...(chip?.lockable && { lock }), ...(chip?.rolls !== false && { own_keys: ownKeys }) };
  if (template) return { url_template_id: template.id, ...keys, ...(template.mode === "lrp" && { lrp }) };
  if (chip?.rolls === false) return { technology: chip.technology, ...keys };
  return { mirror, mac_from: macFrom, ...keys };
}

/**
 * The members to finish an encoding in its original form. Permanent changes are confirmed again, on
 * the tag's page: a lock is not set, and an encoding in LRP mode returns `null`.
 */
export function finishFields(begun: Encoding): Record<string, unknown> | null {
  const { run_id, tag_id, url_template_id, mirror, mac_from, technology, own_keys, additional } = begun;
  if (run_id !== null) return { run_id };
  if (begun.mode === "lrp") return null;
  if (url_template_id !== null) return { tag_id, url_template_id, own_keys, additional };
  return mirror === null ? { tag_id, technology, additional } : { tag_id, mirror, mac_from, own_keys, additional };
}

/** The members of a preview, with the chip on the reader, if it is known. */
export function previewFields(
  form: EncodingForm,
  template: Pick<UrlTemplate, "id" | "technology" | "mode"> | null,
  lies: { state: string; uid: string | null; chip?: string; random_uid?: boolean } | null,
) {
  const fields = formFields(form, template);
  // Permanent changes are shown before they are agreed to.
  const agreed = template?.mode === "lrp" && { lrp: true };
  const uid = lies?.state === "inlay" ? uidOfChip(lies) : null;
  // Readers use the words of the service, and some others.
  const chip = lies?.chip === undefined ? undefined : technologies.find(lies.chip)?.technology;
  return { ...fields, ...agreed, ...(uid !== null && { uid, ...(chip && { chip }) }) };
}
