import { expect, it } from "vitest";
import { ways } from "./proxies";

it("names the owner's host and service in each example, and no other", () => {
  for (const { name, text } of ways("*.tags.shop.example", "127.0.0.1:8790")) {
    expect(text, name).toContain("127.0.0.1:8790");
    expect(text, name).toContain("tags.shop.example");
    expect(text, name).not.toContain("example.com");
    expect(text, name).not.toContain("8787");
    // The file of a certificate.
    expect(text, name).not.toContain("/*.");
  }
});
