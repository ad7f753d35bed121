import { describe, expect, it } from "vitest";
import { urlWarning } from "./urlWarning";

describe("a tag URL that should not be burnt into chips", () => {
  it.each([
    ["http://127.0.0.1:8787/t", /only on this computer/],
    ["http://192.168.1.20:8787/t", /only in this network/],
    ["http://tags.example.com/t", /not use https/],
    ["https://tags.example.com/t", null],
  ])("%s", (tagUrl, warning) => {
    if (warning) expect(urlWarning(tagUrl)).toMatch(warning);
    else expect(urlWarning(tagUrl)).toBeNull();
  });
});
