// The palette's results that need no request to the service.

import Bookmark from "@lucide/svelte/icons/bookmark";
import Server from "@lucide/svelte/icons/server";
import SlidersHorizontal from "@lucide/svelte/icons/sliders-horizontal";
import { connect } from "../../shell/desktop";
import { shell } from "../../shell/shell.svelte";
import { navigation, offers, offersScreen } from "../../window/navigation";
import { attempt } from "../../window/notices.svelte";
import type { Recent } from "../recent.svelte";
import { router } from "../../window/router.svelte";
import { viewsOf, WITH_VIEWS } from "../views";
import { contains, isMeant, kinds, type Group } from "./entries";

/** A section of the settings, or a setting in one. */
export interface Setting {
  name: string;
  /** The section, as in its address. */
  part: string;
  /** The section of a setting; none for the section itself. */
  within?: string;
  /** Synonyms that people search for. */
  words?: string;
  /** Whether the connection may open it. */
  offered: () => boolean;
}

export const recentGroup = (recent: readonly Recent[]): Group => ({
  title: "Recent",
  entries: recent
    .filter(({ screen }) => offersScreen(screen))
    .map(({ screen, id, name }) => ({
      key: `recent ${screen} ${id}`,
      name,
      icon: kinds[screen].icon,
      about: kinds[screen].name,
      run: () => router.go(screen, id, {}),
    })),
});

export const settingGroup = (settings: Setting[], words: string): Group => ({
  title: "Settings",
  entries: settings
    .filter(({ name, within, words: others = "", offered }) => isMeant(`${within ?? ""} ${name}`, others, words) && offered())
    .map(({ name, part, within }) => ({
      key: `setting ${part} ${name}`,
      name,
      icon: SlidersHorizontal,
      about: within,
      run: () => router.go("settings", part, {}),
    })),
});

/** Saved views of every list. */
export const viewGroup = (words: string): Group => ({
  title: "Saved views",
  entries: navigation
    .flat()
    .filter((entry) => WITH_VIEWS.includes(entry.screen) && offers(entry))
    .flatMap(({ screen, name: list }) => {
      const { load, href } = viewsOf(screen);
      return load()
        .filter(({ name }) => contains(name, words))
        .map((view) => ({
          key: `view ${screen} ${view.name}`,
          name: view.name,
          icon: Bookmark,
          about: `View of ${list.toLowerCase()}`,
          run: () => void (location.hash = href(view)),
        }));
    }),
});

/** The other services that could be connected. */
export const connectionGroup = (words: string): Group => ({
  title: "Connections",
  entries: (shell.ready?.connections ?? [])
    .filter(({ id, name, url }) => id !== shell.ready?.connection.id && contains(`${name} ${url}`, words))
    .map(({ id, name }) => ({
      key: `connection ${id}`,
      name: `Connect to ${name}`,
      icon: Server,
      about: "Connection",
      run: () => void attempt(() => connect(id)),
    })),
});
