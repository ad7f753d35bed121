// Rolling keys of taps that this window made, in memory only. The service stores only
// hashes, so the key of any other tap cannot be shown.

class OwnKeys {
  #keys = new Map<number, string>();

  remember(interaction: number, key: string): void {
    this.#keys.set(interaction, key);
  }

  of(interaction: number): string | null {
    return this.#keys.get(interaction) ?? null;
  }
}

export const ownKeys = new OwnKeys();
