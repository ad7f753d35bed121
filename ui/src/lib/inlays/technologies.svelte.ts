// The chips that the service knows, and the schemes by which it derives their keys. The window shows
// them for as long as it is connected, so that they are loaded again after a failure.

import { lookup } from "../api/cache";
import type { DerivationScheme, TechnologyView } from "../api/types";

const listed = () => lookup("/technologies");

export const technologies = {
  /** Every chip, family by family; empty until the service has answered. */
  get all(): readonly TechnologyView[] {
    return listed().now?.items ?? [];
  },

  /** Every scheme that derives keys; empty until the service has answered. */
  get schemes(): readonly DerivationScheme[] {
    return listed().now?.derivations ?? [];
  },

  /** Loads them if they are not known yet: a form that depends on them must not be sent before. */
  async need(): Promise<void> {
    if (listed().known === null) await listed().load();
  },

  /** The chip with this word; `undefined` for another word, such as one of a reader. */
  find(technology: string): TechnologyView | undefined {
    return this.all.find((one) => one.technology === technology);
  },
};
