// The parts of a URL template, for its colours, its explanation and an example. The service decides
// whether it is valid.

import type { MacStart, Mode, Technology } from "../api/types";
import { closedLoop, lengthOf, type Placeholder } from "./technologies";

export type Part =
  | { kind: "text"; text: string }
  | { kind: "placeholder"; text: string; name: Placeholder }
  /** Braces around something else, or a single brace. */
  | { kind: "wrong"; text: string };

export interface Settings {
  template: string;
  technology: Technology;
  mode: Mode;
  mac_from: MacStart;
  enc_length: number | null;
  /** The NDEF prefix code; `null` for the longest that fits. */
  ndef_prefix: number | null;
}

export const placeholders: Placeholder[] = ["slug", "uid", "counter", "picc", "enc", "mac", "tamper", "*"];
const isPlaceholder = (name: string): name is Placeholder => (placeholders as string[]).includes(name);

/** The parts of a template in their order; together they are its text. */
export function partsOf(template: string): Part[] {
  const pieces = template.match(/\{\{|\}\}|\{[^{}]*\}|[{}]|[^{}]+/g) ?? [];
  return pieces.map((text): Part => {
    const name = /^\{([^{}]*)\}$/.exec(text)?.[1];
    if (name !== undefined && isPlaceholder(name)) return { kind: "placeholder", text, name };
    if (name !== undefined || text === "{" || text === "}") return { kind: "wrong", text };
    return { kind: "text", text };
  });
}

export const has = (template: string, name: Placeholder) => template.includes(`{${name}}`);

/** The meaning of each placeholder. */
export const meaning: Record<Placeholder, string> = {
  slug: "the tag's slug",
  uid: "the chip's serial number",
  counter: "the number of reads so far",
  picc: "UID and counter, encrypted with the meta key",
  enc: "data of the chip, encrypted with the file key",
  mac: "the code that proves the tap, made with the file key",
  tamper: "whether the seal was broken",
  "*": "anything; it is not compared",
};

const example: Record<Placeholder, string> = {
  slug: "bottle-41",
  uid: "04DE5F1EACC040",
  counter: "00003D",
  picc: "EF963FF7828658A599F3041510671E88",
  enc: "CEE9A53E3E463EF1F459635736738962",
  mac: "94EED9EE65337086",
  tamper: "CC",
  "*": "anything",
};

/** A part of the URL that a chip generates. */
export interface Shown {
  text: string;
  /** The placeholder it stands for. */
  name: Placeholder | null;
  /** Whether it is part of the MAC's input. */
  covered: boolean;
}

/** The prefixes of NDEF URI records by their code (NFC Forum URI RTD). */
export const prefixes = ["", "http://www.", "https://www.", "http://", "https://"];
/** Bytes of the NDEF file before its URL: the length, the record's header, the prefix code. */
const HEADER = 7;

/** An example of the URL, with the part that the MAC covers. */
export function exampleUrl(settings: Settings): Shown[] {
  const parts: (Shown & { at: number })[] = [];
  let at = 0;
  for (const part of partsOf(settings.template)) {
    const name = part.kind === "placeholder" ? part.name : null;
    const text = name ? filled(name, settings) : part.text.replace(/^(\{\{|\}\})$/, (brace) => brace[0]!);
    parts.push({ text, name, covered: false, at });
    at += text.length;
  }
  const mac = parts.find(({ name }) => name === "mac")?.at ?? 0;
  const start = macStart(settings, parts) ?? mac;
  // Text that is covered from a certain character on becomes two parts.
  return parts.flatMap(({ at, text, name }) => {
    const before = Math.min(text.length, Math.max(0, start - at));
    const pieces = name
      ? [{ text, covered: before === 0 }]
      : [
          { text: text.slice(0, before), covered: false },
          { text: text.slice(before), covered: true },
        ];
    return pieces.filter(({ text }) => text !== "").map((piece) => ({ ...piece, name, covered: piece.covered && at < mac && start < mac }));
  });
}

function filled(name: Placeholder, { technology, mode, enc_length }: Settings): string {
  const length = name === "enc" ? (enc_length ?? 32) : lengthOf(technology, mode, name);
  const text = (name === "tamper" && closedLoop(technology)) || example[name];
  return typeof length === "number" ? text.repeat(Math.ceil(length / text.length)).slice(-length) : text;
}

/** The character of the URL at which the MAC's input begins. */
function macStart(
  { mac_from, ndef_prefix, template }: Settings,
  parts: readonly { name: Placeholder | null; at: number }[],
): number | undefined {
  if (typeof mac_from === "string") return parts.find(({ name }) => name === mac_from)?.at;
  const longest = Math.max(...prefixes.filter((text) => template.startsWith(text)).map(({ length }) => length));
  const prefix = ndef_prefix === null ? longest : (prefixes[ndef_prefix]?.length ?? 0);
  return mac_from.offset - HEADER + prefix;
}

/** The placeholders of a template in the order it has them, each once. */
export function used(template: string): Placeholder[] {
  const names = partsOf(template).flatMap((part) => (part.kind === "placeholder" ? [part.name] : []));
  return [...new Set(names)];
}

/**
 * The character of a template that an error message names, counted from 0; `null` if it names none.
 */
export function placeIn(refusal: string | null | undefined): number | null {
  const found = /^Character (\d+):/.exec(refusal ?? "");
  return found ? Number(found[1]) - 1 : null;
}

/** The host of a template's URLs, without its port. An IPv6 address keeps its brackets. */
export const hostOf = (template: string) => /^[a-z]+:\/\/(\[[^\]]*\]|[^/?#:]*)/i.exec(template)?.[1]?.toLowerCase() ?? "";

/** The path before the first placeholder, up to its last slash. */
export function pathOf(template: string): string {
  const path = /^[a-z]+:\/\/[^/?#]*(\/[^?#{]*)?/i.exec(template)?.[1] ?? "/";
  return path.slice(0, path.lastIndexOf("/") + 1) || "/";
}

/** A description of the beginning of the MAC's input. */
export function macStartWords(start: MacStart): string {
  if (typeof start !== "string") return `byte ${start.offset} of the NDEF file`;
  return start === "none" ? "empty" : `from {${start}} on`;
}

/** Whether chips write nothing into the URLs of a template: these are the same on every tap, like those of QR codes. */
export const isFixed = (template: string): boolean => used(template).every((name) => name === "slug" || name === "*");

/** How a tag is found by the URLs of a template. */
export function findsBy(template: string): "slug" | "uid" | "meta_key" {
  if (has(template, "slug")) return "slug";
  return has(template, "uid") ? "uid" : "meta_key";
}
