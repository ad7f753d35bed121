// The columns of the list of tags: those that the owner chose, for each connection.

import { perConnection } from "../../lib/api/connection.svelte";
import type { Column } from "../../lib/ui/list/ListHead.svelte";
import { kept } from "../../lib/window/kept";
import { attributeName } from "./filter";

/** A column that can be left out. */
export interface Choosable extends Column {
  key: string;
}

const ATTRIBUTE = "attribute:";
/** Most columns besides those that are always there. More would leave no room to read any. */
export const MOST = 8;

const usual = ["slug", "experience", "taps", "last"];

/** The columns that every list can have, in their order. */
export const choosable: readonly Choosable[] = [
  { key: "slug", name: "Slug", cell: "slug" },
  { key: "title", name: "Title", cell: "own" },
  { key: "group", name: "Group", cell: "own" },
  { key: "experience", name: "Experience", cell: "experience" },
  { key: "printed", name: "QR code", cell: "kind" },
  { key: "created", name: "Created", cell: "last" },
  { key: "taps", name: "Taps", cell: "taps", sorts: ["-scans"] },
  { key: "last", name: "Last tap", cell: "last", sorts: ["-last_scan"] },
];

export const attributeColumn = (key: string): string => ATTRIBUTE + key;
/** The key of an attribute's column; `null` for other columns. */
export const keyOfColumn = (column: string): string | null => (column.startsWith(ATTRIBUTE) ? column.slice(ATTRIBUTE.length) : null);

/** The chosen columns in their order: attributes come before the taps. */
export function inOrder(chosen: readonly string[]): string[] {
  const attributes = chosen.filter((column) => keyOfColumn(column) !== null);
  const fixed = choosable.map(({ key }) => key).filter((key) => chosen.includes(key));
  const at = fixed.findIndex((key) => key === "taps" || key === "last");
  return at < 0 ? [...fixed, ...attributes] : [...fixed.slice(0, at), ...attributes, ...fixed.slice(at)];
}

export function columnOf(key: string): Column {
  const attribute = keyOfColumn(key);
  if (attribute === null) return choosable.find((one) => one.key === key) ?? { key, name: key, cell: "own" };
  const order = attributeName(attribute);
  return { key, name: attribute, cell: "own", sorts: [order, `-${order}`] };
}

class TagColumns {
  readonly #memory = kept("tag-columns", { columns: usual });
  #chosen = $state.raw<readonly string[]>(this.#memory.load().columns);

  get chosen(): readonly string[] {
    return inOrder(this.#chosen);
  }

  get isUsual(): boolean {
    return this.chosen.join() === usual.join();
  }

  /** Whether no further column has room. */
  get full(): boolean {
    return this.chosen.length >= MOST;
  }

  toggle(column: string): void {
    const without = this.#chosen.filter((one) => one !== column);
    this.#keep(without.length < this.#chosen.length ? without : [...without, column]);
  }

  reset(): void {
    this.#keep(usual);
  }

  #keep(columns: readonly string[]): void {
    this.#chosen = columns;
    this.#memory.save({ columns: [...columns] });
  }
}

export const tagColumns = perConnection(() => new TagColumns());
