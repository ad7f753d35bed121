// Notices of finished actions, with undo, and of failures. Notices disappear after a
// while, failures stay until they are closed.

export interface Notice {
  id: number;
  text: string;
  failed: boolean;
  undo?: () => Promise<void>;
  /** A way to what it is about. */
  offer?: { name: string; run: () => void };
}

class Notices {
  shown = $state<Notice[]>([]);
  /** The number of the next one: they rise. */
  next = 1;

  /** Reports a finished action; with `stays`, until it is closed. Returns the id of the notice. */
  done(text: string, undo?: () => Promise<void>, stays = false): number {
    const id = this.#show({ text, failed: false, undo });
    if (!stays) setTimeout(() => this.dismiss(id), undo ? 10_000 : 5_000);
    return id;
  }

  /** Reports something with a button that leads to it. */
  offer(text: string, name: string, run: () => void): void {
    const id = this.#show({ text, failed: false, offer: { name, run } });
    setTimeout(() => this.dismiss(id), 10_000);
  }

  /** Reports a failure. */
  failed(error: unknown): void {
    this.#show({ text: error instanceof Error ? error.message : String(error), failed: true });
  }

  dismiss(id: number): void {
    this.shown = this.shown.filter((notice) => notice.id !== id);
  }

  async undo(notice: Notice): Promise<void> {
    this.dismiss(notice.id);
    try {
      await notice.undo?.();
      this.done("Undone.");
    } catch (error) {
      this.failed(error);
    }
  }

  #show(notice: Omit<Notice, "id">): number {
    const id = this.next++;
    this.shown = [...this.shown.slice(-3), { id, ...notice }];
    return id;
  }
}

export const notices = new Notices();

/** Runs `work`, and reports a failure. */
export async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    notices.failed(error);
    return undefined;
  }
}
