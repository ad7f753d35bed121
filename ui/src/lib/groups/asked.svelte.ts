// The dialog about a group that is open. Its menu is in the tree, above the list and in its pane;
// its dialogs are in the screen once.

import type { Group } from "../api/types";
import { rights } from "../stores/rights.svelte";
import { router } from "../window/router.svelte";

/** The dialogs about a group that exists. */
type Act = "rename" | "move" | "labels" | "recall" | "delete";
type Asked = { act: "new"; kind: Group["kind"]; within: number | null } | { act: Act; group: Group } | null;

class GroupDialogs {
  #asked = $state.raw<Asked>(null);

  /** The first steps lead to the address of a new product. It asks until the dialog is closed, also after a reload. */
  get asked(): Asked {
    const isNew = router.place.query.new === "product" && rights.may("tags");
    return isNew ? { act: "new", kind: "product", within: rights.onlyGroup } : this.#asked;
  }

  close = () => {
    this.#asked = null;
    if (router.place.query.new === "product") router.filter({ new: "" });
  };

  create(kind: Group["kind"], within: number | null): void {
    this.#asked = { act: "new", kind, within: within ?? rights.onlyGroup };
  }

  ask(act: Act, group: Group): void {
    this.#asked = { act, group };
  }
}

export const groupDialogs = new GroupDialogs();
