/** Runs `work` at most once in `milliseconds`, however often it is requested. */
export function atMostEvery(milliseconds: number, work: () => unknown): () => void {
  let timer: ReturnType<typeof setTimeout> | null = null;
  return () => {
    timer ??= setTimeout(() => {
      timer = null;
      void work();
    }, milliseconds);
  };
}
