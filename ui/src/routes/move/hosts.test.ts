import { expect, it } from "vitest";
import type { UrlTemplate } from "../../lib/api/types";
import { arrivedWords, hostsOf, isOfWallets } from "./hosts";

const reel = (id: number, template: string, host: string) => ({ id, template, host }) as UrlTemplate;

it("each host of the reels is there once, as a DNS record has it, with the address of its check", () => {
  const hosts = hostsOf([
    reel(1, "https://tags.example.com/tag?p={picc}&c={mac}", "tags.example.com"),
    reel(2, "https://tags.example.com/tag?u={uid}&n={counter}&c={mac}", "tags.example.com"),
    reel(3, "http://{slug}.shop.example/?c={mac}", "slug.shop.example"),
  ]);
  expect(hosts.map(({ name, address, reels }) => [name, address, reels.map(({ id }) => id)])).toEqual([
    ["tags.example.com", "https://tags.example.com/t", [1, 2]],
    ["*.shop.example", "http://slug.shop.example/t", [3]],
  ]);
});

it("URLs of wallets are told apart from those of browsers", () => {
  expect(isOfWallets({ template: "lnurlw://cards.example.com/ln?p={picc}&c={mac}" })).toBe(true);
  expect(isOfWallets({ template: "https://cards.example.com/ln?p={picc}&c={mac}" })).toBe(false);
});

it("the end of a move says which reels prove nothing", () => {
  const reels = [
    { id: 1, name: "Bottles" },
    { id: 2, name: "Flyers" },
  ];
  expect(arrivedWords(reels.slice(0, 1), { 1: true })).toBe("A tap of the reel was verified here.");
  expect(arrivedWords(reels, { 1: true, 2: true })).toBe("A tap of each of the 2 reels was verified here.");
  expect(arrivedWords(reels, { 1: true, 2: false })).toBe(
    "A tap of each of the 2 reels arrived here. Taps of Flyers have no code that is checked, so they cannot be verified.",
  );
});
