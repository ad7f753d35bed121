// Opens the PIN pad: a corner or the Escape key, held for three seconds.

/** Longer than any visitor holds a corner by accident. */
const HELD_MS = 3_000;

/** Calls `held` after the corner was held; an attachment. */
export const corner = (held: () => void) => (element: HTMLElement) => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const release = () => clearTimeout(timer);
  const hold = (event: PointerEvent) => {
    element.setPointerCapture(event.pointerId);
    release();
    timer = setTimeout(held, HELD_MS);
  };
  element.addEventListener("pointerdown", hold);
  for (const end of ["pointerup", "pointercancel"] as const) element.addEventListener(end, release);
  return release;
};

/** Calls `held` after the Escape key was held. */
export function escape(held: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const down = (event: KeyboardEvent) => {
    if (event.key === "Escape" && !event.repeat) {
      clearTimeout(timer);
      timer = setTimeout(held, HELD_MS);
    }
  };
  const up = (event: KeyboardEvent) => {
    if (event.key === "Escape") clearTimeout(timer);
  };
  const lost = () => clearTimeout(timer);
  addEventListener("keydown", down);
  addEventListener("keyup", up);
  // If a visitor's page opens in the meantime, that page gets the key's release.
  addEventListener("blur", lost);
  return () => {
    lost();
    removeEventListener("keydown", down);
    removeEventListener("keyup", up);
    removeEventListener("blur", lost);
  };
}
