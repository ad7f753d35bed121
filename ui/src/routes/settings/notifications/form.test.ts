import { expect, test } from "vitest";
import type { Notification } from "../../../lib/api/types";
import { addressesOf, allowsGroup, blank, bodyOf, formOf, isComplete, mailError, patchOf } from "./form";

const stored = {
  kind: "alert",
  events: ["alert.inlay_guessed", "alert.copied_url"],
  group_id: 7,
  every: null,
  time_zone: "Europe/Berlin",
  channel: { mail: ["anna@example.com", "ben@example.com"] },
} as unknown as Notification;

test("addresses are typed in lines or with commas", () => {
  expect(addressesOf(" anna@example.com, ben@example.com;\n\ncarl@example.com\n")).toEqual([
    "anna@example.com",
    "ben@example.com",
    "carl@example.com",
  ]);
  expect(addressesOf(" \n,")).toEqual([]);
});

test("a notification that is saved as it is stays as it is", () => {
  const { kind, events, group_id, every, time_zone, channel } = stored;
  expect(bodyOf(formOf(stored))).toEqual({ kind, events, group_id, every, time_zone, channel });
  expect(patchOf(formOf(stored), formOf(stored))).toEqual({});
});

test("only changed members are sent", () => {
  const base = formOf(stored);
  expect(patchOf({ ...base, every: "day" }, base)).toEqual({ every: "day" });
  expect(patchOf({ ...base, events: ["alert.copied_url", "alert.inlay_guessed"] }, base)).toEqual({});
  expect(patchOf({ ...base, by: "chat", chat: " https://chat.example/x " }, base)).toEqual({
    channel: { chat: "https://chat.example/x" },
  });
  // A group goes with the alerts that allow one.
  expect(patchOf({ ...base, events: ["alert.disk_low"] }, base)).toEqual({ events: ["alert.disk_low"], group_id: null });
});

test("alerts may be of a group only if all of them are about a tag", () => {
  expect(allowsGroup({ kind: "alert", events: ["alert.copied_url"] })).toBe(true);
  expect(allowsGroup({ kind: "alert", events: ["alert.copied_url", "alert.disk_low"] })).toBe(false);
  expect(allowsGroup({ kind: "alert", events: [] })).toBe(false);
  expect(allowsGroup({ kind: "report", events: ["alert.disk_low"] })).toBe(true);
});

test("a report has no alerts, and a rhythm of its own", () => {
  const report = { ...blank("UTC"), kind: "report" as const, every: "week" as const, mail: "anna@example.com" };
  expect(bodyOf(report)).toEqual({
    kind: "report",
    events: [],
    group_id: null,
    every: "week",
    time_zone: "UTC",
    channel: { mail: ["anna@example.com"] },
  });
});

test("recipients and alerts are needed", () => {
  expect(isComplete(blank("UTC"))).toBe(false);
  expect(isComplete({ ...blank("UTC"), mail: "anna@example.com" })).toBe(true);
  expect(isComplete({ ...blank("UTC"), mail: "anna@example.com", events: [] })).toBe(false);
  expect(isComplete({ ...blank("UTC"), mail: "anna@example.com", by: "chat" })).toBe(false);
});

test("an address that is refused is named", () => {
  const sent = ["anna@example.com", "ben@"];
  expect(mailError({ "channel.mail[1]": "This is not a mail address." }, sent)).toBe("ben@: This is not a mail address.");
  expect(mailError({ "channel.mail": "At most 20." }, sent)).toBe("At most 20.");
  expect(mailError({ every: "Choose one." }, sent)).toBe(undefined);
});
