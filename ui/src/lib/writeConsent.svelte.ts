// Whether this session may change a remote service. It is asked once, before the first
// write; the answer holds for the session, a refusal like a consent.

export class WriteConsent {
  /** Whether the question is shown. */
  asking = $state(false);
  /** What was decided; `null` if nobody was asked yet. */
  #allowed: boolean | null = null;
  /** All writes that wait for the one answer. */
  #waiting: ((yes: boolean) => void)[] = [];

  constructor(
    /** Whether the service is a remote one: its own is never asked about. */
    readonly remote: () => boolean,
    /** Called after each refused write: it can be allowed yet. */
    readonly refused: () => void,
  ) {}

  /** Whether a write may go on. */
  readonly may = (): Promise<boolean> => {
    if (!this.remote()) return Promise.resolve(true);
    if (this.#allowed === null) {
      this.asking = true;
      return new Promise((resolve) => this.#waiting.push(resolve));
    }
    if (!this.#allowed) this.refused();
    return Promise.resolve(this.#allowed);
  };

  /** Shows the question again, after a refusal. */
  reconsider(): void {
    this.asking = true;
  }

  decide(yes: boolean): void {
    this.#allowed = yes;
    this.asking = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const answer of waiting) answer(yes);
    if (!yes) this.refused();
  }

  /** The question was left without an answer: that refuses what waits, and changes nothing that was decided before. */
  left(): void {
    this.asking = false;
    if (this.#waiting.length > 0) this.decide(false);
  }
}
