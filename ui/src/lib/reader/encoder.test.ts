import { expect, test, vi } from "vitest";
import { encodeInlay, type ShellState } from "../shell/desktop";
import { shell } from "../shell/shell.svelte";

const asked = { allowed: false };
vi.mock("../api/client", () => ({ mayWrite: () => Promise.resolve(asked.allowed) }));
vi.mock("../shell/desktop", () => ({ encodeInlay: vi.fn(() => Promise.reject(new Error("The reader is gone."))) }));
vi.mock("./readers.svelte", () => ({ readers: { readerOf: () => "ACS ACR1252" } }));
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
