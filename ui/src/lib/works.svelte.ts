// Long work, with how far it is and a way to stop it. It goes on when another
// screen is shown.

export class Work {
  done = $state(0);
  stopping = $state(false);
  /** Called once when the person stops it, for work that waits for one long answer. */
  onstop: (() => void) | null = null;

  constructor(
    /** What is done, as in "Archiving tags". */
    readonly title: string,
    /** How many there are; `null` if nobody knows. */
    readonly total: number | null,
  ) {}

  stop(): void {
    this.stopping = true;
    this.onstop?.();
  }
}

class Works {
  running = $state.raw<Work[]>([]);

  /** Shows `work` as long as it runs. */
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
