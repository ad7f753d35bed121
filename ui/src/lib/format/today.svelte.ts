// The viewer's present day, for ranges that end today.

import { now } from "./now.svelte";

/** A moment's day in the viewer's time zone: "2026-11-28". */
export function dayOf(milliseconds: number): string {
  const date = new Date(milliseconds);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

const day = $derived(dayOf(now()));

/** The present day by the service's clock. It changes at the viewer's midnight. */
export const today = (): string => day;
