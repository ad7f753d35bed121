// The owner's colour as the ground of the kiosk's page, with text that can be read on it.

import { isColour, textOn } from "../lib/ui/contrast";

/** The ground and its text; `null` for Tapdesk's own. */
export const groundOf = (colour: string | null): { ground: string; text: string } | null =>
  colour !== null && isColour(colour) ? { ground: colour, text: textOn(colour) } : null;
