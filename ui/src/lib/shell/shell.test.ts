import { expect, test, vi } from "vitest";
import type { ShellState } from "./desktop";
import { shell } from "./shell.svelte";

const ready = { phase: "ready", connection: { id: "shop" }, address: "http://127.0.0.1:8787" } as ShellState;
let hear: (state: ShellState) => void = () => undefined;
let answer: (state: ShellState) => void = () => undefined;
const showing = vi.hoisted(() => vi.fn());
vi.mock("./desktop", () => ({
  showing,
  onShellState: (heard: typeof hear) => (hear = heard),
  shellState: () => new Promise<ShellState>((done) => (answer = done)),
}));

test("an answer that is older than what was heard meanwhile counts for nothing", async () => {
  const started = shell.start();
  hear(ready);
  answer({ phase: "starting" } as ShellState);
  await started;
  expect(shell.ready).toEqual(ready);
  expect(showing.mock.calls).toEqual([["shop"]]);
});

test("in a browser nothing is heard, and the answer counts", async () => {
  const started = shell.start();
  answer({ ...ready, address: "http://127.0.0.1:9" } as ShellState);
  await started;
  expect(shell.ready?.address).toBe("http://127.0.0.1:9");
});
