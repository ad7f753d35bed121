import { describe, expect, it } from "vitest";
import { atRest, sceneOf, textsOf } from "./scene";
import { languages } from "./words";

const view = atRest;
const visit = { number: 1, seconds_left: 60, verified: null, is_open: false };
const now = { goodbye: false, left: false };

describe("The scene of the kiosk", () => {
  it("follows a visitor from the tag to the end of the visit", () => {
    expect(sceneOf(view, now)).toBe("attract");
    expect(sceneOf({ ...view, is_reading: true }, now)).toBe("waiting");
    expect(sceneOf({ ...view, visit }, now)).toBe("read");
    expect(sceneOf({ ...view, visit: { ...visit, verified: true } }, now)).toBe("genuine");
    expect(sceneOf({ ...view, visit: { ...visit, verified: false } }, now)).toBe("not_verified");
    expect(sceneOf({ ...view, visit: { ...visit, is_open: true } }, now)).toBe("visit");
    expect(sceneOf(view, { ...now, goodbye: true })).toBe("goodbye");
  });

  it("is the failure, if the service or the reader is missing", () => {
    expect(sceneOf({ ...view, has_reader: false }, now)).toBe("no_reader");
    expect(sceneOf({ ...view, has_reader: false, has_service: false }, { goodbye: true, left: true })).toBe("no_service");
  });

  it("asks to lift a tag that was left, and not during a visit", () => {
    expect(sceneOf({ ...view, has_tag: true }, { ...now, left: true })).toBe("lift");
    expect(sceneOf({ ...view, has_tag: true, visit: { ...visit, is_open: true } }, { ...now, left: true })).toBe("visit");
  });

  it("has words in every language, and asks to take a tag only if there is one", () => {
    const own = { heading: "Place your tag here", text: "Put it on the reader to see its story.", code: null };
    for (const language of languages)
      for (const scene of ["attract", "waiting", "genuine", "not_verified", "read", "goodbye", "lift", "no_reader", "no_service"] as const)
        for (const words of Object.values(textsOf(scene, own, true, language))) expect(words).not.toBe("");
    expect(textsOf("goodbye", own, false, "en").text).toBe("");
    expect(textsOf("no_reader", { ...own, code: "http://192.0.2.7/t/a" }, false, "en").text).toContain("phone");
  });
});
