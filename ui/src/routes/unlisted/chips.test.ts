import { expect, it } from "vitest";
import { idOf, uidOfId } from "./chips";

it("a UID survives its way through a number", () => {
  for (const uid of ["04DE5F1EACC040", "04000000000001", "04FFFFFFFFFFFF"]) {
    expect(Number.isSafeInteger(idOf(uid))).toBe(true);
    expect(uidOfId(idOf(uid))).toBe(uid);
  }
});
