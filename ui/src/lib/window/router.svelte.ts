// The current screen, in the fragment of the address. So going back restores the list, its filters
// and the selection.

export const screens = [
  "overview",
  "tags",
  "experiences",
  "interactions",
  "submissions",
  "inlays",
  "unlisted",
  "templates",
  "move",
  "encode",
  "reader",
  "sheets",
  "simulator",
  "settings",
] as const;

export type Screen = (typeof screens)[number];

export interface Place {
  screen: Screen;
  /** The selected thing's id, or a part of the screen. */
  selected: string | null;
  query: Record<string, string>;
}

export function parse(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [screen, selected] = path.split("/");
  const known = screens.find((name) => name === screen);
  return {
    screen: known ?? "overview",
    selected: (known && selected) || null,
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** The address of a place. Without `query`, a link within a screen keeps its filters. */
export function href(screen: Screen, selected: string | number | null = null, query?: Record<string, string>): string {
  const kept = query ?? (screen === router.place.screen ? router.place.query : {});
  const parameters = new URLSearchParams(Object.entries(kept).filter(([, value]) => value !== "")).toString();
  return `#/${screen}${selected === null ? "" : `/${selected}`}${parameters ? `?${parameters}` : ""}`;
}

class Router {
  place = $state.raw<Place>(parse(location.hash));

  constructor() {
    addEventListener("hashchange", () => {
      this.place = parse(location.hash);
    });
  }

  go(screen: Screen, selected: string | number | null = null, query?: Record<string, string>): void {
    location.hash = href(screen, selected, query);
  }

  /**
   * Leaves the selected thing and the filters, because ids mean other things in another service.
   */
  leave(): void {
    if (this.place.screen === "settings") return;
    history.replaceState(null, "", href(this.place.screen, null, {}));
    this.place = parse(location.hash);
  }

  /** Sets filters of the current screen, without a history entry for each typed letter. */
  filter(changes: Record<string, string>): void {
    const { screen, selected, query } = this.place;
    history.replaceState(null, "", href(screen, selected, { ...query, ...changes }));
    this.place = parse(location.hash);
  }
}

export const router = new Router();
