import { expect, test } from "vitest";
import type { MailServer } from "../../../lib/api/types";
import { blankMail, failureWords, keepsPassword, mailBodyOf, mailFormOf, mailWords, portAfter } from "./mail";

const server: MailServer = {
  host: "mail.example.com",
  port: 465,
  security: "tls",
  user: "anna",
  from: "tapdesk@example.com",
  has_password: true,
};

test("the port follows the security until the person chooses an unusual one", () => {
  expect(portAfter(465, "tls", "starttls")).toBe(587);
  expect(portAfter(587, "starttls", "none")).toBe(25);
  expect(portAfter(2525, "starttls", "tls")).toBe(2525);
  expect(portAfter(null, "none", "tls")).toBe(465);
  expect(portAfter("abc", "tls", "none")).toBe("abc");
});

test("a mail server is said in one line", () => {
  expect(mailWords(server)).toBe("tapdesk@example.com via mail.example.com:465, TLS");
  expect(mailWords({ ...server, host: "::1", port: 25, security: "none" })).toBe("tapdesk@example.com via [::1]:25, not encrypted");
});

test("a password is sent only if it was typed", () => {
  const form = mailFormOf(server);
  expect(mailBodyOf(form)).toEqual({ host: "mail.example.com", port: 465, security: "tls", user: "anna", from: "tapdesk@example.com" });
  expect(mailBodyOf({ ...form, password: "horse" })).toMatchObject({ password: "horse" });
  expect(mailBodyOf({ ...blankMail(), host: " localhost " })).toMatchObject({ host: "localhost", user: null });
});

test("the stored password stays only with its server and user", () => {
  const form = mailFormOf(server);
  expect(keepsPassword({ ...form, from: "other@example.com" }, server)).toBe(true);
  for (const change of [{ host: "other.example.com" }, { port: 587 }, { security: "starttls" as const }, { user: "ben" }]) {
    expect(keepsPassword({ ...form, ...change }, server), JSON.stringify(change)).toBe(false);
  }
  expect(keepsPassword(form, null) || keepsPassword(form, { ...server, has_password: false })).toBe(false);
});

test("a failed test names its step, with the service's sentence", () => {
  expect(failureWords({ step: null, error: null })).toBe(null);
  expect(failureWords({ step: "recipient", error: "The mail server refused it." })).toBe(
    "Failed step: recipient. The mail server refused it.",
  );
});
