// The choices for one inlay, from the last one that was encoded on this computer.

import { templates } from "../inlays/templates";
import { technologies } from "../inlays/technologies.svelte";
import { kept } from "../window/kept";
import { isEncodable, newForm, type EncodingForm } from "./encodingForm";

const memory = kept<{ last: EncodingForm | null }>("last-inlay", { last: null });

/**
 * The form for the next inlay. A lock and a switch to LRP mode are permanent, so they have to be
 * chosen again. A template or a chip that no longer exists gives the usual choice.
 */
export async function lastForm(): Promise<EncodingForm> {
  const { last } = memory.load();
  await technologies.need();
  if (last === null) return newForm();
  const form = { ...newForm(), ...last, lock: false, lrp: false };
  const template = (await templates.load()).find(({ id }) => String(id) === form.choice);
  const isKnown = template ? isEncodable(template) : technologies.find(form.choice) !== undefined;
  return isKnown ? form : newForm();
}

export const keepForm = (last: EncodingForm): void => memory.save({ last });
