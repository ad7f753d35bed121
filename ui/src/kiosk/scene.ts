// The scene of the kiosk's screen: the same composition with other words and another drawing, so
// that nothing jumps from one to the next.

import type { View } from "./desktop";
import rest from "./rest.json";
import { ownersWords, wordsOf, type Language } from "./words";

/** The state of a kiosk that waits for a visitor, with everything that it needs. */
export const atRest: View = rest;

/** `visit` is the visitor's page with the strip below it; all others fill the screen. */
export type Scene = "attract" | "waiting" | "genuine" | "not_verified" | "read" | "visit" | "goodbye" | "lift" | "no_reader" | "no_service";

/** A moment that the page itself measures: a visit has just ended, or a tag lies there for long. */
export interface Moment {
  goodbye: boolean;
  left: boolean;
}

/** How long the visitor is thanked. A tag that is placed ends it at once. */
export const GOODBYE_MS = 5_000;
/** How long a tag lies on the reader after a visit until the page asks to lift it. */
export const LEFT_MS = 10_000;

/** The scene that a state is shown as. */
export function sceneOf(view: View, { goodbye, left }: Moment): Scene {
  if (view.visit?.is_open) return "visit";
  if (view.visit) return view.visit.verified === null ? "read" : view.visit.verified ? "genuine" : "not_verified";
  if (view.is_reading) return "waiting";
  if (!view.has_service) return "no_service";
  if (goodbye) return "goodbye";
  if (!view.has_reader) return "no_reader";
  return left ? "lift" : "attract";
}

/** The large words of a scene and the smaller ones below. */
export function textsOf(
  scene: Scene,
  own: { heading: string; text: string; code: string | null },
  hasTag: boolean,
  language: Language,
): { heading: string; text: string } {
  const words = wordsOf(language);
  switch (scene) {
    case "waiting":
      return { heading: words.waiting, text: words.waiting_text };
    case "genuine":
    case "not_verified":
    case "read":
      return { heading: words[scene], text: words.opens };
    case "goodbye":
      return { heading: words.goodbye, text: hasTag ? words.take_tag : "" };
    case "lift":
      return { heading: words.lift, text: words.lift_text };
    case "no_reader":
      return { heading: words.no_reader, text: own.code ? words.scan_instead : words.try_later };
    case "no_service":
      return { heading: words.no_service, text: words.try_later };
    case "attract":
    case "visit":
      return ownersWords(own, language);
  }
}
