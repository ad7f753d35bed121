// Where the window is: the part of the address after `#`, so that every list
// and every selected thing can be gone back to.

export const screens = [
  "overview",
  "tags",
  "experiences",
  "interactions",
  "simulator",
  "settings",
] as const;

export type Screen = (typeof screens)[number];

export interface Place {
  screen: Screen;
  /** The selected thing's id, or a part of the screen. */
  selected: string | null;
  query: URLSearchParams;
}

export function parse(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [screen, selected] = path.split("/");
  const known = screens.find((name) => name === screen);
  return { screen: known ?? "overview", selected: (known && selected) || null, query: new URLSearchParams(query) };
}

export function href(screen: Screen, selected: string | number | null = null, query: Record<string, string> = {}): string {
  const parameters = new URLSearchParams(query).toString();
  return `#/${screen}${selected === null ? "" : `/${selected}`}${parameters ? `?${parameters}` : ""}`;
}

class Router {
  place = $state<Place>(parse(location.hash));

  constructor() {
    addEventListener("hashchange", () => {
      this.place = parse(location.hash);
    });
  }

  go(screen: Screen, selected: string | number | null = null, query: Record<string, string> = {}): void {
    location.hash = href(screen, selected, query);
  }
}

export const router = new Router();
