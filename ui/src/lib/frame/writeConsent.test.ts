import { expect, test } from "vitest";
import { WriteConsent } from "./writeConsent.svelte";

function consent(remote: string | null = "shop") {
  const offers: string[] = [];
  const shown = { remote };
  return {
    offers,
    shown,
    asked: new WriteConsent(
      () => shown.remote,
      () => offers.push("read-only"),
    ),
  };
}

test("the service of this computer is never asked about", async () => {
  const { asked } = consent(null);
  expect(await asked.may()).toBe(true);
  expect(asked.asking).toBe(false);
});

test("writes at the same time wait for one answer", async () => {
  const { asked, offers } = consent();
  const writes = [asked.may(), asked.may(), asked.may()];
  expect(asked.asking).toBe(true);
  asked.decide(true);
  expect(await Promise.all(writes)).toEqual([true, true, true]);
  expect(await asked.may()).toBe(true);
  expect([asked.asking, offers]).toEqual([false, []]);
});

test("a refusal is remembered: the next write is refused without a question, and offers to allow", async () => {
  const { asked, offers } = consent();
  const first = asked.may();
  asked.decide(false);
  expect(await first).toBe(false);
  expect(await asked.may()).toBe(false);
  expect(asked.asking).toBe(false);
  expect(offers).toEqual(["read-only", "read-only"]);
});

test("a refusal can be taken back, and holds until it is", async () => {
  const { asked } = consent();
  void asked.may();
  asked.decide(false);
  asked.reconsider();
  expect(asked.asking).toBe(true);
  // Escape: no write waits, so nothing is decided.
  asked.left();
  expect(await asked.may()).toBe(false);
  asked.reconsider();
  asked.decide(true);
  expect(await asked.may()).toBe(true);
});

test("leaving the question refuses what waits, and is remembered like any refusal", async () => {
  const { asked, offers } = consent();
  const write = asked.may();
  asked.left();
  expect(await write).toBe(false);
  expect(await asked.may()).toBe(false);
  expect(offers).toHaveLength(2);
});

test("each service is asked about once, also when another was shown in between", async () => {
  const { asked, shown } = consent();
  void asked.may();
  asked.decide(true);
  shown.remote = "depot";
  void asked.may();
  expect(asked.asking).toBe(true);
  asked.decide(false);
  shown.remote = "shop";
  expect(await asked.may()).toBe(true);
  shown.remote = "depot";
  expect(await asked.may()).toBe(false);
  expect(asked.asking).toBe(false);
});

test("what waits for an answer as another service is shown is refused, and decides nothing", async () => {
  const { asked, shown, offers } = consent();
  const write = asked.may();
  shown.remote = "depot";
  asked.switched();
  expect(await write).toBe(false);
  expect([asked.asking, offers]).toEqual([false, []]);
  shown.remote = "shop";
  void asked.may();
  expect(asked.asking).toBe(true);
});
