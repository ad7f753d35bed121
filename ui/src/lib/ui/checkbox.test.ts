import { expect, test } from "vitest";
import { notices } from "../window/notices.svelte";
import { atOnce } from "./checkbox";

test("a refused change shows what is stored, and why", async () => {
  const box = { checked: true };
  const clicked = { currentTarget: box } as unknown as Event;
  await atOnce(
    () => false,
    () => Promise.reject(new Error("Port 8787 is used by another program.")),
  )(clicked);
  expect(box.checked).toBe(false);
  expect(notices.shown.at(-1)).toMatchObject({ failed: true, text: "Port 8787 is used by another program." });

  box.checked = true;
  await atOnce(
    () => false,
    () => Promise.resolve(),
  )(clicked);
  expect(box.checked).toBe(true);
});
