import { expect, it } from "vitest";
import type { UrlTemplate } from "../api/types";
import { isAtLimit, knowsStrangers, mustBeListed } from "./unlisted";
import "../inlays/knownChips";

const template = (more: Partial<UrlTemplate>) =>
  ({
    technology: "ntag424dna",
    template: "https://a.example/?p={picc}&c={mac}",
    master_key_ids: [],
    shared_file_key_check: null,
    ...more,
  }) as UrlTemplate;

it("only chips that are found by nothing but their code can be unlisted", () => {
  expect(mustBeListed(template({}))).toBeNull();
  expect(mustBeListed(template({ template: "https://a.example/{slug}?p={picc}&c={mac}" }))).toContain("slug");
  expect(mustBeListed(template({ technology: "ntag213", template: "https://a.example/?m={uid}x{counter}" }))).toContain("AES");
  // A chip with one AES key proves itself, too; the key of a SIC43NT is no AES key.
  const run = "https://a.example/?m={uid}x{counter}x{mac}";
  expect(mustBeListed(template({ technology: "ntag223dna", template: run }))).toBeNull();
  expect(mustBeListed(template({ technology: "sic43nt", template: "https://a.example/?m={uid}{tamper}{counter}{mac}" }))).toContain("AES");
});

it("a chip without an inlay is known by a master key or by a file key of all chips", () => {
  expect(knowsStrangers(template({}))).toBe(false);
  expect(knowsStrangers(template({ master_key_ids: [3] }))).toBe(true);
  expect(knowsStrangers(template({ shared_file_key_check: "A1B2C3" }))).toBe(true);
});

it("the limit is reached on the day of the tap that found it, while tags are created", () => {
  const at = (unlisted: UrlTemplate["unlisted"], limited_at: string | null, now: string) =>
    isAtLimit(template({ unlisted, limited_at }), Date.parse(now));
  expect(at("create", "2026-03-04T09:00:00Z", "2026-03-04T23:59:59Z")).toBe(true);
  expect(at("create", "2026-03-04T09:00:00Z", "2026-03-05T00:00:00Z")).toBe(false);
  expect(at("create", null, "2026-03-04T10:00:00Z")).toBe(false);
  expect(at("page", "2026-03-04T09:00:00Z", "2026-03-04T10:00:00Z")).toBe(false);
});
