// Whether this session may change a remote service. It is asked once for each, before the first
// write to it; the answer holds for the session, a refusal like a consent.

export class WriteConsent {
  /** Whether the question is shown. */
  asking = $state(false);
  /** What was decided, by the id of the connection. */
  #allowed = new Map<string, boolean>();
  /** All writes that wait for the one answer. */
  #waiting: ((yes: boolean) => void)[] = [];

  constructor(
    /** The id of the remote connection; `null` if the service is this computer's own, which is never asked about. */
    readonly remote: () => string | null,
    /** Called after each refused write: it can be allowed yet. */
    readonly refused: () => void,
  ) {}

  /** Whether a write may go on. */
  readonly may = (): Promise<boolean> => {
    const id = this.remote();
    if (id === null) return Promise.resolve(true);
    const allowed = this.#allowed.get(id);
    if (allowed === undefined) {
      this.asking = true;
      return new Promise((resolve) => this.#waiting.push(resolve));
    }
    if (!allowed) this.refused();
    return Promise.resolve(allowed);
  };

  /** Shows the question again, after a refusal. */
  reconsider(): void {
    this.asking = true;
  }

  decide(yes: boolean): void {
    const id = this.remote();
    if (id !== null) this.#allowed.set(id, yes);
    this.#answer(yes);
    if (!yes) this.refused();
  }

  /** The question was left without an answer: that refuses what waits, and changes nothing that was decided before. */
  left(): void {
    this.asking = false;
    if (this.#waiting.length > 0) this.decide(false);
  }

  /** Another service is shown: what waits is not for that one, and nobody decided. */
  switched(): void {
    this.#answer(false);
  }

  #answer(yes: boolean): void {
    this.asking = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const answer of waiting) answer(yes);
  }
}
