// The chips that the service knows. They are read once for each connection, because they stay the
// same until the service is updated.

import { get } from "../api/client";
import { perConnection } from "../api/connection.svelte";
import { reach } from "../api/reach";
import type { TechnologyView } from "../api/types";

class Technologies {
  /** Every chip, family by family; empty until the service has answered. */
  all = $state.raw<TechnologyView[]>([]);

  async load(): Promise<void> {
    try {
      this.all = (await get("/technologies")).items;
    } catch {
      const stop = reach.onBack(() => {
        stop();
        void this.load();
      });
    }
  }

  /** The chip with this word; `undefined` for another word, such as one of a reader. */
  find(technology: string): TechnologyView | undefined {
    return this.all.find((one) => one.technology === technology);
  }
}

export const technologies = perConnection(() => new Technologies());
