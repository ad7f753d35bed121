// The script that the service serves, made from its source by Vite, which builds the screens, too.

import { fileURLToPath } from "node:url";
import { build } from "vite";

export const kit = fileURLToPath(new URL("../../../service/kit/", import.meta.url));

export async function minified() {
  const lib = { entry: `${kit}tapdesk.mjs`, formats: ["iife"], name: "tapdesk" };
  // Phones get browsers of some years; nothing older than their `fetch` is of use.
  const [{ output }] = await build({ configFile: false, logLevel: "silent", build: { write: false, target: "es2020", lib } });
  return once(output[0].code);
}

/**
 * A page can have the script twice, as with a theme and a plugin. The first copy has the key, so the second leaves it in its
 * place. An element of the page with this name is no copy: elements are no properties of their own. As a property of the
 * window the kit is also there for a page that loads it as a module.
 */
function once(code) {
  const made = /^var tapdesk=(.*);\s*$/s.exec(code);
  if (!made) throw new Error("Vite makes another form of script.");
  return `Object.getOwnPropertyDescriptor(globalThis,\`tapdesk\`)?.value?.guard||(globalThis.tapdesk=${made[1]});`;
}
