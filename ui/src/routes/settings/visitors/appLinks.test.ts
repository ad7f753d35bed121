import { expect, test } from "vitest";
import type { AppLinks, Settings } from "../../../lib/api/types";
import { errorAt, hostsOf, linksOf } from "./appLinks";

const link: AppLinks = {
  host: "tags.example",
  ios_app_ids: ["ABCDE12345.com.example.app", "ABCDE12345.com.example.test"],
  paths: ["/t/*"],
  android_apps: [{ package: "com.example.app", sha256_cert_fingerprints: ["14:6D", "AA:BB"] }],
};

test("apps are lines of text, and the same apps again", () => {
  const hosts = hostsOf({ app_links: { value: [link] } } as unknown as Settings);
  expect(hosts[0]?.android).toBe("com.example.app 14:6D AA:BB");
  expect(linksOf(hosts)).toEqual([link]);
});

test("empty lines and other separators do not matter", () => {
  const [read] = linksOf([{ host: "a", ios: "\n X.y \n\n", paths: " ", android: "com.a  14:6D, AA:BB;" }]);
  expect(read).toEqual({
    host: "a",
    ios_app_ids: ["X.y"],
    paths: [],
    android_apps: [{ package: "com.a", sha256_cert_fingerprints: ["14:6D", "AA:BB"] }],
  });
});

test("an error is at the field of its host, without its name", () => {
  const places = { "app_links[1].android_apps[0].package": "app_links[1].android_apps[0].package: A package is an application id." };
  expect(errorAt(places, 1, "android")).toBe("A package is an application id.");
  expect(errorAt(places, 0, "android")).toBeNull();
  expect(errorAt(places, 1, "ios")).toBeNull();
});
