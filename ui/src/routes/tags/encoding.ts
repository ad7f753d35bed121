// The settings that make an NTAG 424 DNA generate a tag's URL: the NDEF file with placeholders, the
// offsets of the mirrored data, and the file settings. Sources: NT4H2421Gx data sheet rev 3.0,
// sections 9.3 and 10.7.1; AN12196 rev 1.8, table 19.

import type { MacFrom, Mirror } from "../../lib/api/types";

export interface Encoding {
  /** The URL, with zeros as placeholders. */
  url: string;
  /** The NDEF file, its two bytes of length included; hex. */
  ndef: string;
  /** Offsets in the file, in bytes. */
  offsets: { name: string; value: number }[];
  /** The data of ChangeFileSettings for file 2, before it is encrypted; hex. */
  settings: string;
}

/** Key numbers on the chip that the encoding sheet uses: 0 stays the key for changes. */
export const META_KEY = 1;
export const FILE_KEY = 2;

const PREFIXES: [string, number][] = [
  ["https://www.", 2],
  ["http://www.", 1],
  ["https://", 4],
  ["http://", 3],
];

const hex = (bytes: number[]) => bytes.map((byte) => byte.toString(16).padStart(2, "0").toUpperCase()).join("");
const littleEndian = (value: number) => [value & 255, (value >> 8) & 255, (value >> 16) & 255];

export function encode(tagUrl: string, slug: string, mirror: Mirror, macFrom: MacFrom): Encoding {
  const head = `${tagUrl}/${slug}?uid=`;
  const uid = "0".repeat(mirror === "plain" ? 14 : 32);
  const counter = mirror === "plain" ? "0".repeat(6) : "";
  const url = `${head}${uid}&token=${counter}${"0".repeat(16)}`;

  const [prefix, code] = PREFIXES.find(([text]) => url.startsWith(text)) ?? ["", 0];
  const rest = [...new TextEncoder().encode(url.slice(prefix.length))];
  const payload = rest.length + 1;
  if (payload > 248) throw new Error("The tag URL is too long for an inlay: choose a shorter address or slug.");
  const record = [0xd1, 0x01, payload, 0x55, code, ...rest];
  const file = [(record.length >> 8) & 255, record.length & 255, ...record];

  // Before the rest of the URL: length, record header, prefix code.
  const before = 2 + 5 - prefix.length;
  const uidOffset = before + head.length;
  const tokenOffset = uidOffset + uid.length + "&token=".length;
  const macOffset = tokenOffset + counter.length;
  const macInput = macFrom === "uid" ? uidOffset : macOffset;

  const mirrored =
    mirror === "plain"
      ? [
          { name: "UIDOffset", value: uidOffset },
          { name: "SDMReadCtrOffset", value: tokenOffset },
        ]
      : [{ name: "PICCDataOffset", value: uidOffset }];
  const offsets = [...mirrored, { name: "SDMMACInputOffset", value: macInput }, { name: "SDMMACOffset", value: macOffset }];

  const metaRead = mirror === "plain" ? 0xe : META_KEY;
  // Reading is free, writing and changing need key 0; SDM is on; UID and counter as ASCII; access
  // rights LSB first.
  const settings = [0x40, 0x00, 0xe0, 0xc1, 0xff, (metaRead << 4) | FILE_KEY, ...offsets.flatMap(({ value }) => littleEndian(value))];
  return { url, ndef: hex(file), offsets, settings: hex(settings) };
}

/** The reason why a tag URL should not be written to chips; `null` if it can be. */
export function urlWarning(tagUrl: string): string | null {
  let url: URL;
  try {
    url = new URL(tagUrl);
  } catch {
    return "The tag URL is not a web URL. Choose where phones reach you in the settings.";
  }
  const host = url.hostname;
  if (host === "localhost" || host.endsWith(".localhost") || host.startsWith("127.") || host === "[::1]") {
    return "The tag URL works only on this computer. Choose where phones reach you in the settings before you encode inlays.";
  }
  if (/^(10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.)/.test(host) || host.endsWith(".local")) {
    return "The tag URL works only in this network, and its host may change. For inlays that leave it, use your domain: see the settings.";
  }
  return url.protocol === "http:" ? "The tag URL does not use https: phones may show a warning." : null;
}
