// One encoding at a time on each reader: its progress, and its result.

import { address, gate } from "../address/address.svelte";
import { get, mayWrite } from "../api/client";
import type { EncodingAddress, Technology } from "../api/types";
import { encodeInlay, type EncodingProgress } from "../shell/desktop";
import { failed, outcomeOf, type Outcome } from "./encodings";
import { switchedSince } from "../api/connection.svelte";
import { readers } from "../reader/readers.svelte";
import { play } from "../ui/sound";

/** The address in a finished chip's URL, and whether the service could open it. */
async function addressOf({ id, state }: EncodingProgress): Promise<EncodingAddress | null> {
  if (id === null || state !== "verified") return null;
  return get("/encodings/{id}", { id }).then(
    ({ address }) => address,
    // The chip is right, even if the state of its address is unknown.
    () => null,
  );
}

export class Encoder {
  /** The step in progress; null if there is none. */
  progress = $state.raw<EncodingProgress | null>(null);
  /** The result of the last insertion. */
  outcome = $state.raw<Outcome | null>(null);
  /** The insertion that `outcome` is about. */
  insertion = $state<number | null>(null);
  /** How long it took, in milliseconds. */
  took = $state<number | null>(null);
  working = $state(false);
  #turn: Promise<unknown> = Promise.resolve();

  /**
   * Encodes the inlay of an insertion after the previous encoding has ended: an inlay that is
   * placed again at once may be seen before that end is reported. The result is shown before its
   * sound. `wanted` is the chip that the encoding needs, if it is known here. `own` says that the
   * inlay contains this service's own address, which has to be proved.
   */
  encode(
    insertion: number,
    target: Record<string, unknown>,
    wanted: Technology | null = null,
    own = !target.wipe && !target.url_template_id,
  ): Promise<Outcome> {
    const switched = switchedSince();
    const turn = this.#turn.then(() => this.#encode(insertion, target, wanted, own, switched));
    this.#turn = turn;
    return turn;
  }

  async #encode(
    insertion: number,
    target: Record<string, unknown>,
    wanted: Technology | null,
    own: boolean,
    switched: () => boolean,
  ): Promise<Outcome> {
    const began = performance.now();
    this.insertion = insertion;
    this.outcome = null;
    this.working = true;
    let outcome: Outcome;
    try {
      if (!(await mayWrite())) throw new Error("Nothing was changed.");
      if (own && !(await gate.asks())) throw new Error("Nothing was written: its address is not proved.");
      if (switched()) throw new Error("The connection changed. The inlay was not encoded.");
      const reader = readers.readerOf(insertion);
      if (reader === null) throw new Error("The inlay was removed too early. Place it on the reader again.");
      const whole = own ? { ...target, ...address.permission } : target;
      const found = readers.chipOf(insertion);
      const progress = await encodeInlay(reader, insertion, whole, (progress) => (this.progress = progress));
      outcome = outcomeOf(progress, { found, wanted }, await addressOf(progress));
      // The service may know by now that the address is no longer proved.
      if (progress.refusal !== null) void address.load().catch(() => undefined);
    } catch (error) {
      outcome = failed(error instanceof Error ? error.message : String(error));
    }
    this.took = Math.round(performance.now() - began);
    this.working = false;
    this.progress = null;
    this.outcome = outcome;
    play(outcome.tone);
    return outcome;
  }

  clear(): void {
    this.outcome = this.insertion = this.took = null;
  }
}
