// The apps that open tags' URLs, as a form has them: lines of text for each host.

import type { AppLinks, Settings } from "../../../lib/api/types";
import { sentenceOf } from "./errors";

export interface HostApps {
  host: string;
  /** An id in each line. */
  ios: string;
  /** A path in each line. */
  paths: string;
  /** An app in each line: its package, and the fingerprints of its certificates. */
  android: string;
}

export const hostsOf = ({ app_links: { value } }: Settings): HostApps[] =>
  value.map(({ host, ios_app_ids, paths, android_apps }) => ({
    host,
    ios: ios_app_ids.join("\n"),
    paths: paths.join("\n"),
    android: android_apps.map((app) => [app.package, ...app.sha256_cert_fingerprints].join(" ")).join("\n"),
  }));

const lines = (text: string) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

export const linksOf = (hosts: readonly HostApps[]): AppLinks[] =>
  hosts.map(({ host, ios, paths, android }) => ({
    host,
    ios_app_ids: lines(ios),
    paths: lines(paths),
    android_apps: lines(android).map((line) => {
      const [name, ...prints] = line.split(/[\s,;]+/);
      return { package: name!, sha256_cert_fingerprints: prints.filter(Boolean) };
    }),
  }));

/** The fields of the service behind each field of the form. */
const members = { host: "host", ios: "ios_app_ids", paths: "paths", android: "android_apps" } as const;

/** The error at a field of the host with this number. */
export function errorAt(places: Record<string, string>, number: number, field: keyof HostApps): string | null {
  const start = `app_links[${number}].${members[field]}`;
  const message = Object.entries(places).find(([place]) => place === start || place.startsWith(`${start}[`))?.[1];
  return sentenceOf(message);
}
