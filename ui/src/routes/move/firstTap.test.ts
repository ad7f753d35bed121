import { afterEach, expect, it, vi } from "vitest";
import { firstTap } from "./firstTap";

vi.mock("../../lib/shell/desktop", () => ({ serviceBase: () => "" }));
afterEach(() => vi.unstubAllGlobals());

const at = "2026-01-01T12:00:00.000Z";

/** A service with these responses. Returns the list of requests. */
function service(answers: Record<string, unknown>): string[] {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (address: string) => {
    asked.push(address);
    const found = Object.entries(answers).find(([path]) => address.includes(path));
    return found ? new Response(JSON.stringify(found[1])) : new Response("{}", { status: 404 });
  });
  return asked;
}

it("waits while the service has noted no tap, whatever the feed shows", async () => {
  const asked = service({ "/url-templates/3": { first_tap_at: null }, "/interactions": { items: [{ id: 1, inlay_id: 7 }] } });
  expect(await firstTap(3)).toBeNull();
  expect(asked).toHaveLength(1);
});

it("tells the moment that the service noted, and the tap of that moment by an inlay of the template", async () => {
  const [other, simulated, own] = [
    { id: 1, inlay_id: 7 },
    { id: 2, inlay_id: null },
    { id: 3, inlay_id: 8 },
  ];
  const asked = service({
    "/url-templates/3": { first_tap_at: at },
    "/interactions": { items: [other, simulated, own] },
    "/inlays/7": { url_template_id: 4 },
    "/inlays/8": { url_template_id: 3 },
  });
  expect(await firstTap(3)).toEqual({ at, tap: own });
  expect(asked.find((address) => address.includes("/interactions"))).toContain(encodeURIComponent(at));
});

it("tells only the moment if the inlay of that tap is gone", async () => {
  service({ "/url-templates/3": { first_tap_at: at }, "/interactions": { items: [{ id: 1, inlay_id: 7 }] } });
  expect(await firstTap(3)).toEqual({ at, tap: null });
});

it("tells the first verified tap once there is one, if the code of the first was refused", async () => {
  const refused = { id: 1, inlay_id: 8, tag_verified: false };
  const [verified, later] = [
    { id: 2, inlay_id: 8, tag_verified: true, at: "2026-01-01T12:05:00.000Z" },
    { id: 3, inlay_id: 8, tag_verified: true, at: "2026-01-01T12:06:00.000Z" },
  ];
  const template = { "/url-templates/3": { first_tap_at: at }, "/inlays/8": { url_template_id: 3 } };
  service({ ...template, "verification=verified": { items: [] }, "/interactions": { items: [refused] } });
  expect(await firstTap(3)).toEqual({ at, tap: refused });
  service({ ...template, "verification=verified": { items: [later, verified] }, "/interactions": { items: [refused] } });
  expect(await firstTap(3)).toEqual({ at: verified.at, tap: verified });
});
