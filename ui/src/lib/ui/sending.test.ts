import { expect, test } from "vitest";
import { Problem } from "../api/client";
import { Sending } from "./sending.svelte";

test("what is wrong stays until the form is sent again", async () => {
  const sending = new Sending(["name"]);
  const refused = new Problem(422, "No.", null, [{ field: "name", message: "It is taken." }]);
  expect(await sending.run(() => Promise.reject(refused))).toBe(false);
  expect([sending.wrong, sending.general, sending.busy]).toEqual([{ name: "It is taken." }, null, false]);
  expect(await sending.run(async () => undefined)).toBe(true);
  expect([sending.wrong, sending.general]).toEqual([{}, null]);
});

test("a form on its way is not sent twice", async () => {
  const sending = new Sending([]);
  let sent = 0;
  let end = () => {};
  const first = sending.run(() => (sent++, new Promise<void>((resolve) => (end = resolve))));
  expect(await sending.run(async () => void sent++)).toBe(false);
  end();
  expect(await first).toBe(true);
  expect(sent).toBe(1);
});
