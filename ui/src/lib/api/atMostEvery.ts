/**
 * Runs `work` at most once in `milliseconds`, however often it is requested, and not again before it
 * has ended: a slow service gets no further request for the same value.
 */
export function atMostEvery(milliseconds: number, work: () => unknown): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null;
  let [running, again] = [false, false];
  function request(): void {
    if (running) again = true;
    else timer ??= setTimeout(() => void run(), milliseconds);
  }
  async function run(): Promise<void> {
    timer = null;
    running = true;
    try {
      await work();
    } finally {
      running = false;
      if (again) request();
      again = false;
    }
  }
  return request;
}
