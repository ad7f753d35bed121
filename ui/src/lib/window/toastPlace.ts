// The place of the notices: the lower right corner, or the nearest place where they cover no control.

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** Something that may be under the notices. */
export interface Control extends Box {
  /**
   * The distance in pixels that the notices move to avoid covering it: larger for a button than for
   * a row that can be scrolled.
   */
  weight: number;
}

interface Size {
  width: number;
  height: number;
}

/** The distance from the window's edges and between the notices and a control, in pixels. */
export const GAP = 16;

/** The weight of a control that cannot be scrolled away: more than any window's size. */
export const BUTTON = 10_000;
/** The weight of a row of a list. */
export const ROW = 4;

const meets = (one: Box, other: Box) =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

/** Distances of the notices from the right and the lower edge of the window. */
export interface Place {
  right: number;
  bottom: number;
}

/** The box of notices of this size at a place. */
export function boxAt({ right, bottom }: Place, size: Size, view: Size): Box {
  return {
    left: view.width - right - size.width,
    right: view.width - right,
    top: view.height - bottom - size.height,
    bottom: view.height - bottom,
  };
}

/** The weight of all controls that notices of this size would cover at a place. */
export function covered(place: Place, size: Size, view: Size, controls: readonly Control[]): number {
  const box = boxAt(place, size, view);
  return controls.filter((control) => meets(box, control)).reduce((sum, { weight }) => sum + weight, 0);
}

/** The place with the least weight of covered controls, as close to the corner as possible. */
export function placeFor(size: Size, view: Size, controls: readonly Control[]): Place {
  const corner = { right: GAP, bottom: GAP };
  if (covered(corner, size, view, controls) === 0) return corner;
  const fits = (edge: number, length: number, whole: number) => edge >= GAP && edge + length <= whole - GAP;
  const rights = [GAP, ...controls.map(({ left }) => view.width - left + GAP)].filter((edge) => fits(edge, size.width, view.width));
  const bottoms = [GAP, ...controls.map(({ top }) => view.height - top + GAP / 2)].filter((edge) => fits(edge, size.height, view.height));
  let best = corner;
  let least = Infinity;
  for (const right of new Set(rights)) {
    for (const bottom of new Set(bottoms)) {
      const far = right - GAP + (bottom - GAP);
      if (far >= least) continue;
      const cost = far + covered({ right, bottom }, size, view, controls);
      if (cost < least) [best, least] = [{ right, bottom }, cost];
    }
  }
  return best;
}
