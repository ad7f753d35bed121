/** Tapdesk's own ground, without a colour of the owner. */
export const OWN_GROUND = "#14161d";
