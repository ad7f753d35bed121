import { counted } from "../format/format";

/**
 * A sentence about variables of forms that were added to tags with their experience: "3 variables
 * added to 20 tags." Empty if none.
 */
export const addedVariables = (variables: number, tags: number): string =>
  variables === 0 ? "" : `${counted(variables, "variable")} added to ${counted(tags, "tag")}.`;
