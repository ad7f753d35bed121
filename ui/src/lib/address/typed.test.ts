import { expect, test } from "vitest";
import { completed, isLoopback } from "./typed";

test("what people type is completed to a tag URL", () => {
  for (const [typed, whole] of [
    ["tags.example.com", "https://tags.example.com/t"],
    [" Tags.Example.com/ ", "https://tags.example.com/t"],
    ["tags.example.com/nfc/", "https://tags.example.com/nfc"],
    ["tags.example.com:8443", "http://tags.example.com:8443/t"],
    ["tags.example.com:443", "https://tags.example.com/t"],
    ["http://tags.example.com", "http://tags.example.com/t"],
    ["HTTPS://tags.example.com:443/a/b/", "https://tags.example.com/a/b"],
    ["cellar", "http://cellar/t"],
    ["192.0.2.2:8787", "http://192.0.2.2:8787/t"],
    ["shop.local:8787", "http://shop.local:8787/t"],
    ["localhost", "http://localhost/t"],
    ["[2001:db8::2]:8787", "http://[2001:db8::2]:8787/t"],
  ]) {
    expect(completed(typed!), typed).toBe(whole);
  }
});

test("what names no web server is none", () => {
  for (const typed of [
    "",
    "  ",
    "ftp://tags.example.com",
    "my shop",
    "https://",
    "https://shop.example.com/?utm=1",
    "https://shop.example.com/#top",
    "user:secret@tags.example.com",
  ])
    expect(completed(typed), typed).toBeNull();
});

test("an address that leads each device to itself is known", () => {
  const loops = ["http://127.0.0.1:8787/t", "http://localhost/t", "http://a.localhost/t", "http://[::1]:80/t"];
  for (const url of loops) expect(isLoopback(url), url).toBe(true);
  for (const url of ["http://192.0.2.2/t", "https://tags.example.com/t", ""]) expect(isLoopback(url), url).toBe(false);
});
