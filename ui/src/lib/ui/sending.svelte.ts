// A form that is sent once and keeps nothing: whether it is being sent, and its errors.

import { whenOutdated } from "../api/problem";
import { wrongOf } from "./wrong";

export class Sending {
  busy = $state(false);
  /** Errors by field name. */
  wrong = $state.raw<Record<string, string>>({});
  /** The error that no field shows. */
  general = $state<string | null>(null);

  /** `shown` are the fields that show their own errors. */
  constructor(readonly shown: readonly string[]) {}

  /** Sends the form. Returns whether it was accepted. During a request, no second one is sent. */
  async run(work: () => Promise<unknown>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.clear();
    try {
      await work();
      return true;
    } catch (error) {
      const wrong = wrongOf(error, this.shown);
      ({ fields: this.wrong, general: this.general } = wrong);
      whenOutdated(error, () => {
        if (this.general === wrong.general) this.general = null;
      });
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
