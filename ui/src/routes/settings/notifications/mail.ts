// The mail server, as a form, in words, and in the admin API.

import type { BodyOf } from "../../../lib/api/operations";
import type { MailSecurity, MailServer, MailStep } from "../../../lib/api/types";

export const securities: { key: MailSecurity; name: string; port: number; about: string }[] = [
  { key: "tls", name: "TLS", port: 465, about: "Encrypted from the first byte. This is the usual choice." },
  {
    key: "starttls",
    name: "STARTTLS",
    port: 587,
    about: "Encrypted by the command STARTTLS. A server that does not offer it gets nothing.",
  },
  {
    key: "none",
    name: "None",
    port: 25,
    about: "Not encrypted: only for a server on the service's computer, or in a network that you trust.",
  },
];

const of = (security: MailSecurity) => securities.find(({ key }) => key === security)!;

/** The members have the service's names, so that its errors match. */
export interface MailForm {
  host: string;
  port: number | string | null;
  security: MailSecurity;
  user: string;
  /** A new password; empty if the stored one stays. */
  password: string;
  from: string;
}

export const blankMail = (): MailForm => ({ host: "", port: 465, security: "tls", user: "", password: "", from: "" });

/** The form of a mail server. The service never shows its password. */
export const mailFormOf = ({ host, port, security, user, from }: MailServer): MailForm => ({
  host,
  port,
  security,
  user: user ?? "",
  password: "",
  from,
});

/** The port after another security is chosen: the usual one, unless the person chose an unusual one. */
export function portAfter(port: MailForm["port"], before: MailSecurity, after: MailSecurity): MailForm["port"] {
  return port === null || port === "" || Number(port) === of(before).port ? of(after).port : port;
}

/** Whether the service keeps the stored password of `server`: only if it is sent to the same server, for the same user. */
export const keepsPassword = (form: MailForm, server: MailServer | null): boolean =>
  server !== null &&
  server.has_password &&
  form.host.trim() === server.host &&
  Number(form.port) === server.port &&
  form.security === server.security &&
  form.user === (server.user ?? "");

/** The body that sets the mail server. Without a member `password` the stored one stays. */
export const mailBodyOf = ({ host, port, security, user, password, from }: MailForm): BodyOf<"/mail", "put"> => ({
  host: host.trim(),
  port: Number(port),
  security,
  user: user === "" ? null : user,
  from: from.trim(),
  ...(password !== "" && { password }),
});

/** "tapdesk@example.com via mail.example.com:465, TLS" */
export function mailWords({ host, port, security, from }: MailServer): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return `${from} via ${name}:${port}, ${security === "none" ? "not encrypted" : of(security).name}`;
}

/** The steps of sending a message, as names. */
export const steps: Record<MailStep, string> = {
  settings: "settings",
  connect: "connection",
  encrypt: "encryption",
  login: "login",
  sender: "sender",
  recipient: "recipient",
  message: "transfer of the message",
};

/** The reason why a test failed, with the step; `null` if the message was delivered. */
export const failureWords = ({ step, error }: { step: MailStep | null; error: string | null }): string | null =>
  step === null && error === null ? null : `Failed step: ${step ? steps[step] : "unknown"}. ${error ?? ""}`.trim();
