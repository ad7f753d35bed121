import { expect, test } from "vitest";
import type { Notification } from "../../../lib/api/types";
import { recipientWords, stateWords, subjectWords } from "./words";

const now = Date.parse("2026-11-28T12:00:00Z");
const at = (minutes: number) => new Date(now - minutes * 60_000).toISOString();
const failure = (minutes: number) => ({ recipient: "ben@example.com", at: at(minutes), error: "Refused.", given_up: true });

const notification = {
  kind: "alert",
  events: ["alert.disk_low", "alert.backup_failed"],
  group_id: null,
  every: null,
  time_zone: "Europe/Berlin",
  channel: { mail: ["anna@example.com", "ben@example.com"] },
  enabled: true,
  disabled: null,
  waiting: 0,
  last_sent_at: null,
  failures: [],
} as unknown as Notification;

const group = () => "Grand Cru";
const state = (more: Partial<Notification>, hasServer = true) => {
  const { text, tone } = stateWords({ ...notification, ...more }, hasServer, now);
  return [text, tone];
};

test("a subject is said in words", () => {
  const words = (more: object) => subjectWords({ ...notification, ...more } as Notification, group);
  expect(words({})).toBe("Alerts: disk low, backup failed");
  expect(words({ events: ["alert.copied_url"], group_id: 3, every: "day" })).toBe("Alerts of Grand Cru: copied URL, at most daily");
  expect(words({ kind: "report", events: [], group_id: 3, every: "week" })).toBe("Weekly report of Grand Cru, Europe/Berlin");
  expect(words({ kind: "report", events: [], every: "day" })).toBe("Daily report, Europe/Berlin");
});

test("recipients are addresses, or the host of a chat without its secret", () => {
  expect(recipientWords(notification)).toBe("anna@example.com, ben@example.com");
  expect(recipientWords({ channel: { chat: "https://hooks.slack.com/services/T0/B0/secret" } })).toBe("Chat at hooks.slack.com");
});

test("a state says the most important thing first", () => {
  expect(state({})).toEqual(["Nothing sent yet", "soft"]);
  expect(state({ enabled: false })).toEqual(["Off", "off"]);
  expect(state({ enabled: false, disabled: "restored" })).toEqual(["Switched off after a restore", "off"]);
  expect(state({ waiting: 2 })).toEqual(["2 waiting", "soft"]);
  expect(state({ waiting: 2 }, false)).toEqual(["No mail server, 2 waiting", "bad"]);
  expect(state({ channel: { chat: "https://chat.example/x" } }, false)).toEqual(["Nothing sent yet", "soft"]);
  expect(state({ last_sent_at: at(5) })).toEqual(["Sent 5 min. ago", "good"]);
  expect(state({ last_sent_at: at(9), failures: [failure(5)] })).toEqual(["Failed 5 min. ago", "bad"]);
  expect(state({ last_sent_at: at(5), failures: [failure(9)] })).toEqual(["Sent 5 min. ago, 1 failed", "soft"]);
});
