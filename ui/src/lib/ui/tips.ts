import { Tooltip } from "bits-ui";

/** Joins each `Tip` to the one tooltip of the window. */
export const tips = Tooltip.createTether<string>();
