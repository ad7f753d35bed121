// For tests: the chips and the key schemes of the service, from the example of its API document.

import openapi from "../../../../service/openapi.json";
import { lookup } from "../api/cache";
import type { DerivationScheme, TechnologyView } from "../api/types";

const { example } = openapi.paths["/admin/v1/technologies"].get.responses["200"].content["application/json"];

/** The answer of the service. */
export const knownChips = example as { items: TechnologyView[]; derivations: DerivationScheme[] };

lookup("/technologies").set(knownChips);
