// Small values that the window stores over restarts, separately for each connection.

import { shell } from "../shell/shell.svelte";

export function kept<T>(name: string, none: T): { load: () => T; save: (value: T) => void } {
  const key = () => `${name} ${shell.ready?.connection.id ?? ""}`;
  return {
    load: () => {
      try {
        return { ...none, ...(JSON.parse(localStorage.getItem(key()) ?? "null") as T | null) };
      } catch {
        return none;
      }
    },
    save: (value) => localStorage.setItem(key(), JSON.stringify(value)),
  };
}

/** Deletes the stored values of a connection that is removed. */
export function forget(connection: string): void {
  const names = Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index) ?? "");
  for (const name of names.filter((one) => one.endsWith(` ${connection}`))) localStorage.removeItem(name);
}
