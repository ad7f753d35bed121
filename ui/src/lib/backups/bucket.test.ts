import { expect, test } from "vitest";
import { moment } from "../format/format";
import { backupSize, backupTime, bucketOf } from "./bucket";

test("a backup is shown by the time in its name", () => {
  expect(backupTime("tapdesk-20260102T120304Z.backup")).toBe(moment("2026-01-02T12:03:04Z"));
  for (const other of ["tapdesk-before.backup", "tapdesk-20261399T120000Z.backup"]) expect(backupTime(other)).toBe(other);
});

test("a size has the unit that fits", () => {
  expect([1, 999_001, 1_000_000, 2_345_678_901].map(backupSize)).toEqual(["1 KB", "1,000 KB", "1 MB", "2,346 MB"]);
});

test("only a bucket is offered as one", () => {
  expect([null, "/mnt/backup", "s3://backups/shop"].map(bucketOf)).toEqual(["", "", "s3://backups/shop"]);
});
