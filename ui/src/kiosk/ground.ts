// The owner's colour as the background of the kiosk's page, with a readable text colour.

import { isColour, textOn } from "../lib/ui/contrast";

/** The background and its text colour; `null` for Tapdesk's own. */
export const groundOf = (colour: string | null): { ground: string; text: string } | null =>
  colour !== null && isColour(colour) ? { ground: colour, text: textOn(colour) } : null;
