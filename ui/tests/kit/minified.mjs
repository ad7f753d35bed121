// The script that the service serves, made from its source by Vite, which builds the screens, too.

import { fileURLToPath } from "node:url";
import { build } from "vite";

export const kit = fileURLToPath(new URL("../../../service/kit/", import.meta.url));

export async function minified() {
  const lib = { entry: `${kit}tapdesk.mjs`, formats: ["iife"], name: "tapdesk" };
  // Phones get browsers of some years; nothing older than their `fetch` is of use.
  const [{ output }] = await build({ configFile: false, logLevel: "silent", build: { write: false, target: "es2020", lib } });
  return output[0].code;
}
