import { expect, test } from "vitest";
import { Problem } from "../api/problem";
import type { Group } from "../api/types";
import { altOf, ownDigest, readImage, refusedImage } from "./image";

const image = { group_id: 2, type: "image/png", digest: "a1" } as Group["image"];

test("an image from a group above is not the group's own", () => {
  expect(ownDigest({ id: 2, image })).toBe("a1");
  expect(ownDigest({ id: 3, image })).toBeNull();
  expect(ownDigest({ id: 3, image: null })).toBeNull();
});

test("an image is described by the nearest title, or by the name of its group", () => {
  const product = { name: "GC 2021", title: "Grand Cru" };
  const batch = { name: "L03", title: "" };
  expect(altOf([batch, product])).toBe("Grand Cru");
  expect(altOf([{ ...batch, title: "Lot 3" }, product])).toBe("Lot 3");
  expect(altOf([batch, { ...product, title: "" }])).toBe("L03");
});

test("a file that is too large is not sent, and one of another type is named", async () => {
  const file = (size: number) => ({ name: "photo.png", size, arrayBuffer: async () => new ArrayBuffer(0) }) as File;
  await expect(readImage(file(16 * 1024 * 1024 + 1))).rejects.toThrow("photo.png is larger than 16 MB.");
  await expect(readImage(file(16 * 1024 * 1024))).resolves.toBeInstanceOf(ArrayBuffer);
  const words = (status: number) => refusedImage(new Problem(status, "The service's words."), "list.csv");
  expect(words(415)).toEqual(new Error("list.csv is no PNG, JPEG, WebP or GIF."));
  expect(words(422)).toMatchObject({ message: "The service's words." });
});
