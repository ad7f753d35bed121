// The members of a URL template as a form holds them.

import { Problem } from "../../lib/api/client";
import type { MacStart, Mode, Technology, UrlTemplate } from "../../lib/api/types";

export interface TemplateFields {
  name: string;
  template: string;
  technology: Technology;
  mode: Mode;
  mac_from: MacStart;
  /** `null` for the longest that fits. */
  ndef_prefix: number | null;
  enc_length: number | null;
  tamper_at: number | null;
}

export const blank = (): TemplateFields => ({
  name: "",
  template: "",
  technology: "ntag424dna",
  mode: "aes",
  mac_from: "none",
  ndef_prefix: null,
  enc_length: null,
  tamper_at: null,
});

export const fieldsOf = ({ name, template, technology, mode, mac_from, ndef_prefix, enc_length, tamper_at }: UrlTemplate): TemplateFields => ({
  name,
  template,
  technology,
  mode,
  mac_from,
  ndef_prefix,
  enc_length,
  tamper_at,
});

/** A refusal of the whole template that names another member ("mac_from: …"), at that member's field. */
export function atItsField(error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  const errors = error.errors.map(({ field, message }) => {
    const [, member, rest] = /^(mode|mac_from|ndef_prefix|enc_length|tamper_at): (.+)$/s.exec(message) ?? [];
    return field === "template" && member && rest ? { field: member, message: rest.charAt(0).toUpperCase() + rest.slice(1) } : { field, message };
  });
  return new Problem(error.status, error.message, error.code, errors, error.current, error.etag);
}

/** Runs `send`, and tells what is wrong at the field where it is. */
export const placed = <T>(send: () => Promise<T>): Promise<T> => send().catch((error: unknown) => Promise.reject(atItsField(error)));
