import { describe, expect, it } from "vitest";
import type { Encoding } from "../api/types";
import { finishFields, formFields, isEncodable, isReady, newForm, previewFields } from "./encodingForm";
import { lookup } from "../api/cache";
import { knownChips } from "../inlays/knownChips";

const template = (text: string, technology: "ntag213" | "ntag424dna" = "ntag213") => ({
  id: 3,
  technology,
  template: text,
  mode: "aes" as "aes" | "lrp",
  tamper_at: null,
});

describe("what finishes an encoding", () => {
  const begun = {
    run_id: null,
    tag_id: 41,
    url_template_id: null,
    mirror: "plain",
    mac_from: "none",
    technology: "ntag424dna",
    mode: "aes",
    own_keys: true,
    additional: false,
  } as Encoding;

  it("is as it was begun, but for what is for ever", () => {
    const canonical = { tag_id: 41, mirror: "plain", mac_from: "none", own_keys: true, additional: false };
    expect(finishFields(begun)).toEqual(canonical);
    const pages: Encoding = { ...begun, mirror: null, mac_from: null, technology: "ntag213", own_keys: false };
    expect(finishFields(pages)).toEqual({ tag_id: 41, technology: "ntag213", additional: false });
    const templated: Encoding = { ...pages, url_template_id: 3 };
    expect(finishFields(templated)).toEqual({ tag_id: 41, url_template_id: 3, own_keys: false, additional: false });
    expect(finishFields({ ...templated, mode: "lrp" })).toBeNull();
    expect(finishFields({ ...templated, mode: "lrp", run_id: 7 })).toEqual({ run_id: 7 });
  });
});

describe("the form of an encoding", () => {
  it("sends the mirror of the canonical form, and never a lock for a chip with keys", () => {
    expect(formFields({ ...newForm(), lock: true }, null)).toEqual({ mirror: "encrypted", mac_from: "none", own_keys: false });
  });

  it("sends a write password of a chip without keys only if it changes and the chip is not locked", () => {
    const password = { ...newForm(), choice: "ntag215", writePassword: "set" as const };
    expect(formFields(password, null)).toEqual({ technology: "ntag215", lock: false, write_password: true });
    expect(formFields({ ...password, writePassword: "remove" }, null)).toMatchObject({ write_password: false });
    expect(formFields({ ...password, writePassword: "keep" }, null)).toEqual({ technology: "ntag215", lock: false });
    expect(formFields({ ...password, lock: true }, null)).toEqual({ technology: "ntag215", lock: true });
    expect(formFields({ ...newForm(), writePassword: "set" }, null)).not.toHaveProperty("write_password");
  });

  it("sends the chip of a static URL, and its lock", () => {
    expect(formFields({ ...newForm(), choice: "ntag215", lock: true }, null)).toEqual({ technology: "ntag215", lock: true });
  });

  it("sends only a template", () => {
    const one = template("https://a.example/{slug}");
    expect(formFields({ ...newForm(), choice: "3" }, one)).toEqual({ url_template_id: 3, lock: false });
    expect(formFields({ ...newForm(), choice: "3", ownKeys: true }, { ...one, technology: "ntag424dna" })).toEqual({
      url_template_id: 3,
      own_keys: true,
    });
  });

  it("offers the templates that can be written", () => {
    expect(isEncodable(template("https://a.example/{slug}"))).toBe(true);
    expect(isEncodable(template("https://a.example/{slug}/{*}"))).toBe(false);
    expect(isEncodable(template("https://a.example/?p={picc}&c={mac}", "ntag424dna"))).toBe(false);
    expect(isEncodable({ ...template("https://a.example/{slug}"), technology: "sic43nt" })).toBe(false);
  });

  it("switches to LRP mode only if that was agreed to, and says that it is for ever", () => {
    const lrp = { ...template("https://a.example/{slug}?p={picc}&m={mac}", "ntag424dna"), mode: "lrp" as const };
    const form = { ...newForm(), choice: "3" };
    expect(isEncodable(lrp)).toBe(true);
    expect([isReady(form, lrp), isReady({ ...form, lrp: true }, lrp), isReady(form, null)]).toEqual([false, true, true]);
    expect(formFields({ ...form, lrp: true }, lrp)).toEqual({ url_template_id: 3, own_keys: false, lrp: true });
    expect(formFields({ ...form, lrp: true }, { ...lrp, mode: "aes" })).toEqual({ url_template_id: 3, own_keys: false });
  });

  it("is not sent before the chips are known", () => {
    const form = { ...newForm(), choice: "ntag213" };
    lookup("/technologies").forget();
    expect(isReady(form, null)).toBe(false);
    lookup("/technologies").set(knownChips);
    expect(isReady(form, null)).toBe(true);
  });

  it("asks about the chip on the reader if its UID is known, and shows what is for ever before it is agreed to", () => {
    const lrp = { ...template("https://a.example/{slug}?p={picc}&m={mac}", "ntag424dna"), mode: "lrp" as const };
    const lies = { state: "inlay", uid: "04DE5F1EACC040", chip: "ntag424dna", random_uid: false };
    expect(previewFields({ ...newForm(), choice: "3" }, lrp, lies)).toEqual({
      url_template_id: 3,
      own_keys: false,
      lrp: true,
      uid: lies.uid,
      chip: "ntag424dna",
    });
    expect(previewFields(newForm(), null, { ...lies, chip: "other_type4" })).toMatchObject({ uid: lies.uid });
    for (const unknown of [null, { ...lies, state: "failed" }, { ...lies, uid: null }, { ...lies, random_uid: true }]) {
      expect(previewFields(newForm(), null, unknown)).not.toHaveProperty("uid");
    }
  });
});
