// An example of the page kit, as somebody copies it.

import { copyFile, mkdir, readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { kit } from "../minified.mjs";

export const examples = fileURLToPath(new URL("../../../../service/kit/examples/", import.meta.url));

/** The address in the examples that their README says to replace. */
const SERVICE = "https://tags.example.com";

export const read = (path) => readFile(join(examples, path), "utf8");

/** The paths of all files of an example, relative to it. */
export async function paths(name) {
  const entries = await readdir(join(examples, name), { recursive: true, withFileTypes: true });
  const folder = join(examples, name).length + 1;
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(folder));
}

/** The files of an example by name, for a service at this address. */
export async function files(name, service) {
  const all = await Promise.all((await paths(name)).map(async (path) => [path, await read(join(name, path))]));
  return new Map(all.map(([path, text]) => [path, text.replaceAll(SERVICE, service)]));
}

/** Copies an example, without its README. */
export async function copy(name, to) {
  for (const path of await paths(name)) {
    if (path === "README.md") continue;
    await mkdir(dirname(join(to, path)), { recursive: true });
    await copyFile(join(examples, name, path), join(to, path));
  }
}

export const helper = (file) => readFile(`${kit}server/${file}`, "utf8");
