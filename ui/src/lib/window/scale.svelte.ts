// The scale of the window's content in percent: a choice of this computer, like the theme. The
// shell scales the web view, so that all sizes of the page follow. A browser has its own keys for
// that.

import { inDesktop, setScale } from "../shell/desktop";

/** The steps of the keys, and the choices in the settings. */
export const scales = [80, 90, 100, 110, 125, 150, 175, 200];

const KEY = "scale";
const NORMAL = 100;

function stored(): number {
  const percent = Number(globalThis.localStorage?.getItem(KEY));
  return scales.includes(percent) ? percent : NORMAL;
}

class Scale {
  /** Whether the page can set its own scale. */
  readonly offered = inDesktop;
  percent = $state(stored());

  constructor() {
    if (this.offered && this.percent !== NORMAL) void setScale(this.percent);
  }

  choose(percent: number): void {
    this.percent = percent;
    if (percent === NORMAL) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, String(percent));
    void setScale(percent);
  }

  larger(): void {
    this.choose(scales.find((step) => step > this.percent) ?? this.percent);
  }

  smaller(): void {
    this.choose(scales.filter((step) => step < this.percent).at(-1) ?? this.percent);
  }

  reset(): void {
    this.choose(NORMAL);
  }
}

export const scale = new Scale();
