// Whether what has the focus can be seen: neither under a bar that stays, nor outside of the window.

/** Gives the focus to all that the Tab key can reach, and answers what is covered or cut then, in a line each. */
export const covered = (page) =>
  page.evaluate(async () => {
    const TAKES = "a[href], button, input, select, textarea, summary, [tabindex]";
    // A dialog and a menu keep the focus.
    const scope = [...document.querySelectorAll("[role=dialog], [role=menu]")].at(-1) ?? document;
    const wordsOf = (one) =>
      `${one.localName}${one.className ? `.${String(one.className).split(" ")[0]}` : ""} "${(one.getAttribute("aria-label") ?? one.textContent).trim().slice(0, 40)}"`;
    // A list of choices that the focus left closes a moment later. Frames take longer on a slow machine, as it does.
    const FRAMES = 300;
    const drawn = () => new Promise((done) => requestAnimationFrame(done));
    const found = [];
    for (const one of scope.querySelectorAll(TAKES)) {
      if (one.tabIndex < 0 || one.disabled || !one.checkVisibility({ visibilityProperty: true })) continue;
      // What has the focus since before the window became smaller would not be scrolled to.
      if (document.activeElement === one) one.blur();
      one.focus();
      if (document.activeElement !== one) continue;
      // A field that is drawn by its label is seen as that.
      const labels = [...(one.labels ?? [])];
      const shown = getComputedStyle(one).clipPath === "none" ? one : (labels[0] ?? one);
      const look = () => {
        const { left, top, right, bottom } = shown.getClientRects()[0] ?? shown.getBoundingClientRect();
        const y = bottom - top > innerHeight ? innerHeight / 2 : (top + bottom) / 2;
        // What is wide may have something before its middle.
        const points = right - left > 300 ? [0.1, 0.5, 0.9] : [0.5];
        const above = points.map((share) => document.elementFromPoint(left + share * (right - left), y));
        const isSeen = (at) => at && (shown.contains(at) || at.contains(shown) || labels.some((label) => label.contains(at)));
        // Toasts go by themselves, and keep clear of what has the focus on their own.
        return { left, y, above, seen: above.some((at) => isSeen(at) || at?.closest(".notices")) };
      };
      let last = look();
      for (let frame = 0; frame < FRAMES && !last.seen; frame++) {
        await drawn();
        last = look();
      }
      const { left, y, above, seen } = last;
      if (seen) continue;
      const where = above[0] ? `covered by ${wordsOf(above[0])}` : `outside of the window, at ${Math.round(left)}, ${Math.round(y)}`;
      found.push(`the focus on ${wordsOf(one)} is ${where}`);
    }
    return found;
  });
