// The width of the right pane, stored over restarts.

const WIDTH = "split";
const EXPANDED = "split-expanded";

export const NARROWEST = 320;
export const WIDEST = 900;

class Pane {
  width = $state(Number(localStorage.getItem(WIDTH)) || Math.min(560, Math.max(420, Math.round(innerWidth * 0.3))));
  expanded = $state(localStorage.getItem(EXPANDED) === "true");

  resize(width: number): void {
    this.width = Math.min(WIDEST, Math.max(NARROWEST, width));
  }

  keep(): void {
    localStorage.setItem(WIDTH, String(this.width));
  }

  toggle(): void {
    this.expanded = !this.expanded;
    localStorage.setItem(EXPANDED, String(this.expanded));
  }
}

export const pane = new Pane();
