// The guide of the page kit: its files, as the owner of a page copies them.

import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";

const path = fileURLToPath(new URL("../../../service/docs/guides/page-kit.md", import.meta.url));
/** The examples that load the script from a service, as pages of the guide do. */
const examples = ["plain-html/index.html", "shopify/sections/tapdesk.liquid"];
const pinning = [path, ...examples.map((name) => fileURLToPath(new URL(`../../../service/kit/examples/${name}`, import.meta.url)))];
const INTEGRITY = /sha384-[\w+/=]+/g;

export const integrityOf = (script) => `sha384-${createHash("sha384").update(script).digest("base64")}`;

/** The files by name, for a service at this address. */
export async function files(service) {
  const guide = await readFile(path, "utf8");
  const blocks = guide.matchAll(/^\*\*`([^`\n]+)`\*\*\n\n```\w+\n(.*?)^```$/gms);
  return new Map([...blocks].map(([, name, text]) => [name, text.replaceAll("https://tags.example.com", service)]));
}

/** The policy that the guide shows. */
export async function policy(service) {
  const [, policy] = /```text\n(.*)\n```/.exec(await readFile(path, "utf8"));
  return policy.replaceAll("https://tags.example.com", service);
}

/** The integrities that the guide shows, and those of the examples. */
export const integrities = async () =>
  (await Promise.all(pinning.map((path) => readFile(path, "utf8")))).flatMap((text) => text.match(INTEGRITY));

export async function setIntegrity(integrity) {
  for (const path of pinning) await writeFile(path, (await readFile(path, "utf8")).replace(INTEGRITY, integrity));
}
