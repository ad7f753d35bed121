// Whether this session may change a remote service. The question is asked once per service, before
// the first write; the answer, yes or no, holds for the session.

export class WriteConsent {
  /** Whether the question is shown. */
  asking = $state(false);
  /** The answers, by the id of the connection. */
  #allowed = new Map<string, boolean>();
  /** All writes that wait for the present answer. */
  #waiting: ((yes: boolean) => void)[] = [];

  constructor(
    /**
     * The id of the remote connection; `null` for this computer's own service, which needs no
     * consent.
     */
    readonly remote: () => string | null,
    /** Called after each refused write, because it can still be allowed. */
    readonly refused: () => void,
  ) {}

  /** Whether a write may continue. */
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

  /** Shows the question again after a no. */
  reconsider(): void {
    this.asking = true;
  }

  decide(yes: boolean): void {
    const id = this.remote();
    if (id !== null) this.#allowed.set(id, yes);
    this.#answer(yes);
    if (!yes) this.refused();
  }

  /**
   * The question was closed without an answer: waiting writes are refused, and an earlier answer
   * stays.
   */
  left(): void {
    this.asking = false;
    if (this.#waiting.length > 0) this.decide(false);
  }

  /** Another service is shown: waiting writes are not for that one, and nothing was decided. */
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
