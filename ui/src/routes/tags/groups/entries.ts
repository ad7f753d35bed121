// The actions of a group, in its menus.

import CircleAlert from "@lucide/svelte/icons/circle-alert";
import CircleCheck from "@lucide/svelte/icons/circle-check";
import FolderInput from "@lucide/svelte/icons/folder-input";
import PanelRight from "@lucide/svelte/icons/panel-right";
import Pencil from "@lucide/svelte/icons/pencil";
import Plus from "@lucide/svelte/icons/plus";
import Printer from "@lucide/svelte/icons/printer";
import Trash from "@lucide/svelte/icons/trash-2";
import type { Group } from "../../../lib/api/types";
import { groupAddress } from "../../../lib/frame/addresses";
import { groupDialogs } from "../../../lib/groups/asked.svelte";
import { innerKind, kinds, kindWords } from "../../../lib/groups/words";
import type { MenuEntry } from "../../../lib/ui/Menu.svelte";
import { router } from "../../../lib/window/router.svelte";

export const newGroupEntries = (within: number | null = null): MenuEntry[] =>
  kinds.map((kind) => ({
    name: `New ${kindWords[kind].name.toLowerCase()}…`,
    icon: kindWords[kind].icon,
    run: () => groupDialogs.create(kind, within),
  }));

const inside = ({ id, kind }: Group): MenuEntry[] => {
  const inner = innerKind(kind);
  return [{ name: `New ${inner} in it…`, icon: Plus, run: () => groupDialogs.create(inner, id) }];
};

export function groupEntries(group: Group, opened = false): MenuEntry[] {
  const recalled = group.status === "recalled";
  return [
    ...(opened
      ? []
      : [{ name: "Open", icon: PanelRight, run: () => router.go("tags", groupAddress(group.id), { group: String(group.id) }) }]),
    ...inside(group),
    { name: "Rename…", icon: Pencil, run: () => groupDialogs.ask("rename", group) },
    { name: "Move…", icon: FolderInput, run: () => groupDialogs.ask("move", group) },
    { name: "Print labels…", icon: Printer, disabled: group.tag_count === 0, run: () => groupDialogs.ask("labels", group) },
    recalled
      ? { name: "End recall…", icon: CircleCheck, run: () => groupDialogs.ask("recall", group) }
      : { name: "Recall…", icon: CircleAlert, danger: true, run: () => groupDialogs.ask("recall", group) },
    { name: "Delete…", icon: Trash, danger: true, run: () => groupDialogs.ask("delete", group) },
  ];
}
