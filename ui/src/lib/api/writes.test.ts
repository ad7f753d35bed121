import { expect, it } from "vitest";
import { erases, writes } from "./writes";

it("tells a request that changes the service from one that only looks", () => {
  for (const looks of [
    "backup",
    "experiences/7/preview",
    "encodings/preview",
    "verification",
    "url-templates/solve",
    "tags/import/table",
    "tags/import/table?preset=csv",
    "tags/import?dry_run=true",
    "factory-orders/3/import?dry_run=true&preset=csv",
    "tags/import?mode=upsert&dry_run=true&on_error=skip",
  ]) {
    expect(writes("POST", `/admin/v1/${looks}`), looks).toBe(false);
  }
  for (const changes of [
    "experiences/7/publish",
    "tags/import?dry_run=false",
    "factory-orders/3/import?dry_run=false&preset=csv",
    "factory-orders/3/keys",
    "url-templates",
    "encodings",
    "tags",
    "backups",
  ]) {
    expect(writes("POST", `/admin/v1/${changes}`), changes).toBe(true);
  }
  expect(writes("DELETE", "/admin/v1/tags/1")).toBe(true);
  expect(writes("GET", "/admin/v1/tags/1")).toBe(false);
});

it("tells a request that erases data", () => {
  expect(erases("DELETE", "/admin/v1/submissions/1")).toBe(true);
  expect(erases("POST", "/admin/v1/submissions/erase")).toBe(true);
  expect(erases("POST", "/admin/v1/tags")).toBe(false);
});
