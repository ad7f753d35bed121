import { expect, test } from "vitest";
import { isClosed, missingHosts, pairingLeft, rightsWords, stateWords } from "./phones";

const created_at = "2027-01-31T10:00:00Z";
const at = (time: string) => Date.parse(`2027-01-31T${time}Z`);
type Phone = Parameters<typeof stateWords>[0];
const unpaired: Phone = { state: "unpaired", created_at, expires_at: null, unpaired_hosts: ["tags.example"] };
const paired: Phone = { ...unpaired, state: "active", unpaired_hosts: [] };

test("a code pairs a phone for ten minutes", () => {
  expect(pairingLeft({ created_at }, at("10:00:00"))).toBe(600_000);
  expect(pairingLeft({ created_at }, at("10:09:59"))).toBe(1_000);
  expect(pairingLeft({ created_at }, at("10:10:00"))).toBe(0);
  expect(pairingLeft({ created_at }, at("11:00:00"))).toBe(0);
});

test("the state of a phone follows from the service and the time", () => {
  expect(stateWords(unpaired, at("10:05:00"))).toBe("Waiting");
  expect(stateWords(unpaired, at("10:10:00"))).toBe("Not paired");
  expect(stateWords(paired, at("11:00:00"))).toBe("Paired");
  expect(stateWords({ ...unpaired, state: "expired" }, at("10:05:00"))).toBe("Expired");
  // The list was loaded before its end.
  expect(stateWords({ ...paired, expires_at: "2027-01-31T10:30:00Z" }, at("10:30:00"))).toBe("Expired");
});

test("a phone that is paired names the hosts at which it is not", () => {
  const added = { ...paired, unpaired_hosts: ["new.example"] };
  expect(stateWords(added, at("11:00:00"))).toBe("Not paired at new.example");
  expect(stateWords({ ...added, unpaired_hosts: ["new.example", "m.example"] }, at("11:00:00"))).toBe("Not paired at 2 hosts");
  expect(missingHosts(added, at("11:00:00"))).toEqual(["new.example"]);
  // Others are not paired anywhere, and need no list.
  expect(missingHosts({ ...unpaired, unpaired_hosts: ["new.example"] }, at("11:00:00"))).toEqual([]);
  expect(missingHosts({ ...added, expires_at: "2027-01-31T10:30:00Z" }, at("10:30:00"))).toEqual([]);
});

test("the rights of a phone are named in one order", () => {
  expect(rightsWords({ scopes: ["tags", "read"], group_ids: null, expires_at: null })).toBe("See tags, Change tags");
  expect(rightsWords({ scopes: ["read"], group_ids: [4, 9], expires_at: null })).toBe("See tags, in 2 groups");
  expect(rightsWords({ scopes: ["read"], group_ids: null, expires_at: created_at })).toMatch(/^See tags, until 31 Jan 2027/);
});

test("the listener is closed only if the tag URL leads to this computer in its network", () => {
  const closed = { phones: false, listen_fixed: false };
  expect(isClosed("http://192.0.2.7:8787/t", closed)).toBe(true);
  expect(isClosed("http://192.0.2.7:8787/t", { ...closed, phones: true })).toBe(false);
  expect(isClosed("http://192.0.2.7:8787/t", { ...closed, listen_fixed: true })).toBe(false);
  // A reverse proxy is in front of it.
  expect(isClosed("https://tags.example.com/t", closed)).toBe(false);
  // The question about the address is asked for this one.
  expect(isClosed("http://127.0.0.1:8787/t", closed)).toBe(false);
  expect(isClosed("http://192.0.2.7:8787/t", null)).toBe(false);
});
