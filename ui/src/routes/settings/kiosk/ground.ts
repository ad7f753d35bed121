/** Tapdesk's own background colour, used without a colour of the owner. */
export const OWN_GROUND = "#14161d";
