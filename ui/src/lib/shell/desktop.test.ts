import { expect, test, vi } from "vitest";
import { downloadFile, encodeInlay, onLiveEvent, sendTap, showing } from "./desktop";

const invoke = vi.hoisted(() => vi.fn(async (_command: string, _payload: Record<string, unknown>) => undefined));
vi.mock("@tauri-apps/api/core", () => ({ Channel: class {}, convertFileSrc: String, invoke, isTauri: () => true }));

test("each command for a service names the connection that the page shows", async () => {
  showing("embedded");
  onLiveEvent(
    () => undefined,
    () => undefined,
  );
  showing("shop");
  await sendTap("https://tags.example.com/t/k3v9qa", "service", null);
  await encodeInlay("Reader 1", 7, { tag_id: 41 }, () => undefined);
  await downloadFile("tags.csv", "/admin/v1/tags/export", null, () => undefined)?.outcome;
  const named = invoke.mock.calls.map(([command, payload]) => {
    const wanted = (payload.wanted ?? payload) as { connection?: string };
    return [command, wanted.connection];
  });
  expect(named).toEqual([
    ["live_events", "embedded"],
    ["send_tap", "shop"],
    ["encode", "shop"],
    ["download", "shop"],
  ]);
});
