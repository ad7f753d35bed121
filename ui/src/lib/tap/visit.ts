// How and from where a visitor came to a tag, as text.

import type { Interaction, OperatingSystem, Tech } from "../api/types";

const ways: Record<Tech, string> = { n: "NFC", q: "QR code", u: "Link" };
const systems: Record<OperatingSystem, string> = {
  ios: "iOS",
  ipados: "iPadOS",
  android: "Android",
  windows: "Windows",
  macos: "macOS",
  linux: "Linux",
  other: "Another system",
};

const named = (kind: "region" | "language", code: string) => {
  try {
    return new Intl.DisplayNames(["en"], { type: kind, fallback: "code" }).of(code) ?? code;
  } catch {
    // Invalid codes, such as those of a proxy for anonymous visitors.
    return code;
  }
};

/** The name of a scan type, which may be unknown to this version. */
export const wayWords = (tech: string): string => ways[tech as Tech] ?? tech;
export const systemWords = (system: string): string => systems[system as OperatingSystem] ?? system;
/** "Germany" for `DE`. */
export const countryWords = (code: string): string => named("region", code);
/** "German" for `de`. */
export const languageWords = (code: string): string => named("language", code);

/** "NFC · Android", or "NFC" if the system is unknown. */
export const scanWords = ({ tech, system }: Pick<Interaction, "tech" | "system">): string =>
  system === null || system === "other" ? wayWords(tech) : `${wayWords(tech)} · ${systemWords(system)}`;
