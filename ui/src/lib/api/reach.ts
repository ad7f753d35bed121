// Whether the connected service responds. Reads wait while it does not, and messages about that are
// outdated once it responds again.

type Heard = () => void;

/** The time until the shell notices that a service died, with some margin, in milliseconds. */
const NOTICED = 2_500;

class Reach {
  lost = false;
  #losses = new Set<Heard>();
  #backs = new Set<Heard>();

  /** Takes over the shell's report. */
  take(lost: boolean): void {
    if (lost === this.lost) return;
    this.lost = lost;
    for (const heard of [...(lost ? this.#losses : this.#backs)]) heard();
  }

  /**
   * Calls `heard` each time the service stops responding, until the returned function is called.
   */
  onLost(heard: Heard): () => void {
    this.#losses.add(heard);
    return () => void this.#losses.delete(heard);
  }

  /** Calls `heard` each time the service responds again, until the returned function is called. */
  onBack(heard: Heard): () => void {
    this.#backs.add(heard);
    return () => void this.#backs.delete(heard);
  }

  /** The same, only for the next time. */
  onceBack(heard: Heard): void {
    const stop = this.onBack(() => (stop(), heard()));
  }

  /** Resolves when the service responds. */
  back(): Promise<void> {
    return this.lost ? new Promise((back) => this.onceBack(back)) : Promise.resolve();
  }

  /** The value of `answer`, or `null` if the service is lost before. */
  async unlessLost<T>(answer: Promise<T>): Promise<T | null> {
    let stop = () => undefined as void;
    const lost = new Promise<null>((gone) => (stop = this.onLost(() => gone(null))));
    return Promise.race([answer, lost]).finally(stop);
  }

  /** Whether a service that did not respond is lost: the shell may notice it a little later. */
  async isLost(): Promise<boolean> {
    if (!this.lost) await this.unlessLost(new Promise((over) => setTimeout(over, NOTICED)));
    return this.lost;
  }
}

export const reach = new Reach();
