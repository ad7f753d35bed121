import { describe, expect, it } from "vitest";
import { formFields, isAgreed, isEncodable, newForm, previewFields } from "./encodingForm";

const template = (text: string, technology: "ntag213" | "ntag424dna" = "ntag213") => ({
  id: 3,
  technology,
  template: text,
  mode: "aes" as "aes" | "lrp",
  tamper_at: null,
});

describe("the form of an encoding", () => {
  it("sends the mirror of the canonical form, and never a lock for a chip with keys", () => {
    expect(formFields({ ...newForm(), lock: true }, null)).toEqual({ mirror: "encrypted", mac_from: "none", own_keys: false });
  });

  it("sends the chip of a static URL, and its lock", () => {
    expect(formFields({ ...newForm(), choice: "ntag215", lock: true }, null)).toEqual({ technology: "ntag215", lock: true });
  });

  it("sends a template alone", () => {
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
    expect([isAgreed(form, lrp), isAgreed({ ...form, lrp: true }, lrp), isAgreed(form, null)]).toEqual([false, true, true]);
    expect(formFields({ ...form, lrp: true }, lrp)).toEqual({ url_template_id: 3, own_keys: false, lrp: true });
    expect(formFields({ ...form, lrp: true }, { ...lrp, mode: "aes" })).toEqual({ url_template_id: 3, own_keys: false });
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
