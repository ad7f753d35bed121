import { expect, test, vi } from "vitest";
import { encodeInlay, type ShellState } from "../shell/desktop";
import { shell } from "../shell/shell.svelte";

const asked = { allowed: false };
vi.mock("../api/client", () => ({ mayWrite: () => Promise.resolve(asked.allowed) }));
const answer = { settled: true };
vi.mock("../address/address.svelte", () => ({
  gate: { asks: () => Promise.resolve(answer.settled) },
  address: { permission: { allow_unproved_address: true }, load: () => Promise.resolve() },
}));
vi.mock("../shell/desktop", () => ({ encodeInlay: vi.fn(() => Promise.reject(new Error("The reader is gone."))) }));
vi.mock("../reader/readers.svelte", () => ({ readers: { readerOf: () => "ACS ACR1252", chipOf: () => "ntag424dna" } }));
vi.mock("../ui/sound", () => ({ play: () => undefined }));

const { Encoder } = await import("./encoder.svelte");

test("nothing is encoded for a service that may not be changed", async () => {
  const refused = await new Encoder().encode(1, { run_id: 7 });
  expect(refused.text).toBe("Nothing was changed.");
  expect(encodeInlay).not.toHaveBeenCalled();
  asked.allowed = true;
  await new Encoder().encode(2, { run_id: 7 });
  expect(encodeInlay).toHaveBeenCalledOnce();
});

test("an encoding that waited for its turn is not made for another service", async () => {
  asked.allowed = true;
  vi.mocked(encodeInlay).mockClear();
  shell.state = { phase: "ready", connection: { id: "embedded" } } as ShellState;
  const waiting = new Encoder().encode(3, { run_id: 7 });
  shell.state = { phase: "ready", connection: { id: "shop" } } as ShellState;
  expect((await waiting).text).toBe("The connection changed. The inlay was not encoded.");
  expect(encodeInlay).not.toHaveBeenCalled();
});

test("an address that is not proved is asked about, except for a chip that is wiped or has a template's", async () => {
  asked.allowed = true;
  answer.settled = false;
  vi.mocked(encodeInlay).mockClear();
  expect((await new Encoder().encode(4, { tag_id: 1 })).text).toBe("Nothing was written: its address is not proved.");
  expect(encodeInlay).not.toHaveBeenCalled();
  await new Encoder().encode(5, { wipe: true });
  await new Encoder().encode(6, { tag_id: 1, url_template_id: 2 });
  answer.settled = true;
  await new Encoder().encode(7, { tag_id: 1 });
  const sent = vi.mocked(encodeInlay).mock.calls.map(([, , target]) => target);
  expect(sent).toEqual([{ wipe: true }, { tag_id: 1, url_template_id: 2 }, { tag_id: 1, allow_unproved_address: true }]);
});
