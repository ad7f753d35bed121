// Taps that this window made, with their URLs and rolling keys, in memory only. The service
// stores neither: a code is spent with its tap, and of a key there is a hash alone.

export interface OwnTap {
  /** The URL as it was sent. */
  url: string;
  /** The rolling key, if it got one. */
  rk: string | null;
}

class OwnTaps {
  #taps = new Map<number, OwnTap>();

  remember(interaction: number, tap: OwnTap): void {
    this.#taps.set(interaction, tap);
  }

  of(interaction: number): OwnTap | null {
    return this.#taps.get(interaction) ?? null;
  }
}

export const ownTaps = new OwnTaps();
