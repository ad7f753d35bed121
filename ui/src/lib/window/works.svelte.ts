// Long work, with its progress and a way to stop it. It continues when another screen
// is shown.

import { notices } from "./notices.svelte";
import { switchedSince } from "../api/connection.svelte";
import { present } from "../format/now.svelte";

export class Work {
  done = $state(0);
  #stopped = $state(false);
  /** Whether the screens show another service by now: the rest of the work is not for that one. */
  readonly switched = switchedSince();
  /** Whether its connection broke, and the person has to resume it. */
  broken = $state(false);
  #answer: ((goesOn: boolean) => void) | null = null;
  /** Called once when the person stops it, for work that waits for one long response. */
  onstop: (() => void) | null = null;
  /** The time of its beginning, in milliseconds. */
  readonly begun = present();

  constructor(
    /** For example "Archiving tags". */
    readonly title: string,
    /** Number of items; `null` if unknown. */
    readonly total: number | null,
  ) {}

  get stopping(): boolean {
    return this.#stopped || this.switched();
  }

  stop(): void {
    this.#stopped = true;
    this.onstop?.();
    this.#answer?.(false);
  }

  goOn(): void {
    this.#answer?.(true);
  }

  /** Asks the person to resume it, because its connection broke; `false` if they stop it. */
  async goesOn(): Promise<boolean> {
    if (this.stopping) return false;
    this.broken = true;
    const goesOn = await new Promise<boolean>((answer) => (this.#answer = answer));
    this.broken = false;
    this.#answer = null;
    return goesOn;
  }
}

class Works {
  running = $state.raw<Work[]>([]);

  /** Stops work for the service that the screens no longer show. */
  switched(): void {
    for (const work of this.running.filter((one) => one.switched())) {
      work.stop();
      notices.failed(`${work.title} was stopped, because the connection changed.`);
    }
  }

  /** Shows `work` while it runs. */
  async run<T>(title: string, total: number | null, work: (work: Work) => Promise<T>): Promise<T> {
    const shown = new Work(title, total);
    this.running = [...this.running, shown];
    try {
      return await work(shown);
    } finally {
      this.running = this.running.filter((one) => one !== shown);
    }
  }
}

export const works = new Works();
