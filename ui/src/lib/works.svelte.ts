// Long work, with its progress and a way to stop it. It continues when another screen
// is shown.

export class Work {
  done = $state(0);
  stopping = $state(false);
  /** Called once when the person stops it, for work that waits for one long response. */
  onstop: (() => void) | null = null;
  /** When it began, in milliseconds. */
  readonly begun = Date.now();

  constructor(
    /** For example "Archiving tags". */
    readonly title: string,
    /** Number of items; `null` if unknown. */
    readonly total: number | null,
  ) {}

  stop(): void {
    this.stopping = true;
    this.onstop?.();
  }
}

class Works {
  running = $state.raw<Work[]>([]);

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
