// Words that do not fit into their box become smaller. The owner's text can be long, and a message
// below it must stay on the screen.

/** Words become smaller in steps of this share of their size. */
const STEP = 0.04;
/** At this size the longest texts that the settings allow fit on a high display. */
const SMALLEST = 0.3;

/** Sets `--fit`, the scale of the words in a box; an attachment. */
export function fit(box: HTMLElement): () => void {
  const overflows = () => {
    // A grid that centres its content overflows at both ends, which the scroll height does not count.
    const tops = [...box.children].map((child) => child.getBoundingClientRect());
    const height = Math.max(...tops.map(({ bottom }) => bottom)) - Math.min(...tops.map(({ top }) => top));
    return height > box.getBoundingClientRect().height + 1;
  };
  const refit = () => {
    for (let scale = 1; scale >= SMALLEST; scale -= STEP) {
      box.style.setProperty("--fit", scale.toFixed(2));
      if (!overflows()) return;
    }
  };
  const resized = new ResizeObserver(refit);
  resized.observe(box);
  const changed = new MutationObserver(refit);
  changed.observe(box, { childList: true, subtree: true, characterData: true });
  // Before its font is there, a text has another height.
  void document.fonts.ready.then(refit);
  return () => {
    resized.disconnect();
    changed.disconnect();
  };
}
