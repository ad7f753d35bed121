// The names of keys on the keyboard of this computer. Shortcuts are written with Ctrl.

/** Whether the Command key has the role of Ctrl on other computers. */
export const byCommand = /^(mac|iphone|ipad)/i.test(globalThis.navigator?.platform ?? "");

/** The keys of a shortcut, one after the other. */
export const keyNames = (keys: string, command = byCommand): string[] =>
  keys.split(" ").map((key) => (command && key === "Ctrl" ? "⌘" : key));
