import { expect, test } from "vitest";

import { Work } from "./works.svelte";

test("work whose connection broke waits until the person goes on or stops it", async () => {
  const work = new Work("Exporting interactions", null);
  const stopped: string[] = [];
  work.onstop = () => stopped.push("stopped");

  const first = work.goesOn();
  expect(work.broken).toBe(true);
  work.goOn();
  expect(await first).toBe(true);
  expect(work.broken).toBe(false);

  const second = work.goesOn();
  work.stop();
  expect(await second).toBe(false);
  expect(stopped).toEqual(["stopped"]);
  expect(work.broken).toBe(false);
  // After it was stopped, the person is not asked again.
  expect(await work.goesOn()).toBe(false);
});
