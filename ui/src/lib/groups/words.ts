// Groups in words.

import Folder from "@lucide/svelte/icons/folder";
import Layers from "@lucide/svelte/icons/layers";
import Package from "@lucide/svelte/icons/package";
import type { Group } from "../api/types";

type Kind = Group["kind"];

export const kinds: readonly Kind[] = ["product", "batch", "folder"];

export const kindWords: Record<Kind, { name: string; code: string; icon: typeof Folder; about: string }> = {
  product: { name: "Product", code: "SKU", icon: Package, about: "A kind of goods, with its page, its texts and its attributes." },
  batch: { name: "Batch", code: "Lot", icon: Layers, about: "Goods that were made together. A batch can be recalled." },
  folder: { name: "Folder", code: "Code", icon: Folder, about: "Keeps products and batches in order." },
};

/** The path of a group: "Wines / Grand Cru 2021 / L03". */
export const pathWords = (path: readonly Group[]): string => path.map(({ name }) => name).join(" / ");

/** What is created in a group: a batch holds no product. */
export const innerKind = (kind: Kind): Kind => (kind === "folder" ? "product" : "batch");
