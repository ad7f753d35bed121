import { expect, test, vi } from "vitest";
import { get, post } from "../api/client";
import type { Interaction } from "../api/types";
import { answerTo, sentTo } from "./destination";

vi.mock("../api/client", () => ({ get: vi.fn(), post: vi.fn() }));

const filled = "https://shop.example.com/register?sn=B-1001&rk=ROLLING_KEY";

test("the URL of a tap of this window is the one that was sent", () => {
  const location = "https://shop.example.com/register?sn=B-1000&rk=abc";
  expect(sentTo(filled, { rk: "abc", location })).toBe(location);
});

test("the stand-in is sent a part of the URL, so that the whole one has the key filled in", () => {
  const location = "http://127.0.0.1:8787/stand-in?for=https%3A%2F%2Fshop.example.com%2Fregister&proof=1&rk=abc";
  expect(sentTo(filled, { rk: "a+c", location })).toBe("https://shop.example.com/register?sn=B-1001&rk=a%2Bc");
});

test("the key of another's tap is not known", () => {
  expect(sentTo(filled, null)).toBe(filled);
});

test("the answer is that of the version that the tap led to, on whichever page of the list", async () => {
  const version = (number: number) => ({ kind: "redirect", version: number, target_url: `https://example.com/${number}`, rules: [] });
  vi.mocked(get)
    .mockResolvedValueOnce({ items: [version(3), version(2)], next: "2" } as never)
    .mockResolvedValueOnce({ items: [version(1)], next: null } as never);
  const tap = { tag_id: 5, experience_id: 9, experience_version: 1, tag_verified: false, country: "" } as Interaction;
  await answerTo(tap);
  const content = { kind: "redirect", target_url: "https://example.com/1", rules: [] };
  expect(post).toHaveBeenCalledExactlyOnceWith(
    "/experiences/{id}/preview",
    expect.objectContaining({ tag_id: 5, verification: "not_verified", country: null, content }),
    { id: 9 },
  );
  expect(await answerTo({ ...tap, experience_id: null })).toBe(null);
});

test("the page is that before its visitor changed it", async () => {
  const version = { kind: "studio", version: 1, blocks: [], theme: {} };
  vi.mocked(get).mockResolvedValueOnce({ items: [version], next: null } as never);
  const changes = [
    { key: "owner", old: "", new: "Ada" },
    { key: "erased", old: null, new: "" },
  ];
  const tap = { tag_id: 5, experience_id: 9, experience_version: 1, tag_verified: true, country: "", update: { at: "", changes } };
  await answerTo(tap as never);
  expect(post).toHaveBeenLastCalledWith("/experiences/{id}/preview", expect.objectContaining({ variables: { owner: "" } }), { id: 9 });
});
