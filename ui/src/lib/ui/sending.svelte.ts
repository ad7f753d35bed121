// A form that is sent once and keeps nothing: whether it is on its way, and what is wrong with it.

import { wrongOf } from "./wrong";

export class Sending {
  busy = $state(false);
  /** What is wrong with a field, by name. */
  wrong = $state.raw<Record<string, string>>({});
  /** What no field shows. */
  general = $state<string | null>(null);

  /** `shown` are the fields that show what is wrong with them. */
  constructor(readonly shown: readonly string[]) {}

  /** Sends the form; returns whether it was taken. While one is on its way, no second one is sent. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.clear();
    try {
      await work();
      return true;
    } catch (error) {
      ({ fields: this.wrong, general: this.general } = wrongOf(error, this.shown));
      return false;
    } finally {
      this.busy = false;
    }
  }

  clear(): void {
    this.wrong = {};
    this.general = null;
  }
}
