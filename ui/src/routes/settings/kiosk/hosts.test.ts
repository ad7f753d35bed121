import { expect, test } from "vitest";
import type { Experience } from "../../../lib/api/types";
import { hostOf, targets, withHosts } from "./hosts";

test("a target's host is found unless a macro decides it", () => {
  expect(hostOf("https://shop.example.com/register?sn={{ tag:attribute:sku }}")).toBe("shop.example.com");
  expect(hostOf('http://127.0.0.1:9000/{{ tag:data:model || "index" }}')).toBe("127.0.0.1:9000");
  for (const target of ["https://{{ tag:data:host }}/a", "{{ tag:data:url }}", "tel:+49", "https://a@b/", ""])
    expect(hostOf(target)).toBeNull();
});

test("hosts are added once, below those that are there", () => {
  expect(withHosts("a.example\n\n", ["https://b.example/", "https://a.example/x", "{{ x }}"])).toBe("a.example\nb.example");
});

test("the targets of an experience include those of its rules; a page of the service has none", () => {
  const redirect = { kind: "redirect", rules: [{ target_url: "https://de.example/" }], target_url: "https://example.com/" };
  expect(targets(redirect as Experience)).toEqual(["https://de.example/", "https://example.com/"]);
  expect(targets({ kind: "redirect", target_url: "https://example.com/" } as Experience)).toEqual(["https://example.com/"]);
  expect(targets({ kind: "studio", blocks: [] } as unknown as Experience)).toEqual([]);
});
