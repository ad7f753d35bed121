// Starting points for common exhibits. Each changes only the form, which can be changed further.

import { wordsOf } from "../../../kiosk/words";

export interface Template {
  heading: string;
  text: string;
  idle_seconds: number;
  sound: boolean;
  light: boolean;
}

/** The kiosk knows these texts in all of its languages. */
const words = wordsOf("en");

/** A museum is quiet, and its texts are long; at a counter the next customer waits. */
export const templates: Record<string, Template> = {
  Exhibition: { heading: words.heading, text: words.text, idle_seconds: 120, sound: false, light: true },
  "Shop counter": { heading: words.shop_heading, text: words.shop_text, idle_seconds: 30, sound: true, light: true },
  Tasting: { heading: words.tasting_heading, text: words.tasting_text, idle_seconds: 90, sound: true, light: false },
};
