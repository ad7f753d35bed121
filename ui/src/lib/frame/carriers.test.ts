import { expect, test } from "vitest";
import { anyCarriers, carriersDo, carriersWords } from "./carriers";

const carriers = { port: 8787, inlays: 0, labels: 0, phones: false };

test("what leads to a port is named with its numbers", () => {
  expect(carriersWords({ ...carriers, inlays: 1_200 })).toBe("1,200 chips");
  expect(carriersWords({ ...carriers, inlays: 1, labels: 3 })).toBe("1 chip and 3 printed codes");
  expect(carriersWords({ ...carriers, inlays: 2, labels: 1, phones: true })).toBe("2 chips, 1 printed code and phones on this network");
  expect(carriersWords({ ...carriers, phones: true })).toBe("Phones on this network");
  const verbs = [{ inlays: 1 }, { labels: 2 }, { phones: true }].map((some) => carriersDo({ ...carriers, ...some }, "reaches", "reach"));
  expect(verbs).toEqual(["reaches", "reach", "reach"]);
  expect([carriers, { ...carriers, labels: 1 }].map(anyCarriers)).toEqual([false, true]);
});
