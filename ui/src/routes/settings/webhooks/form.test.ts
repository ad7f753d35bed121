import { expect, test } from "vitest";
import type { Webhook } from "../../../lib/api/types";
import { alerts } from "./alerts";
import { blank, bodyOf, filterInWords, formOf } from "./form";

const stored = {
  url: "https://shop.example/hooks",
  events: ["tap.verified", "alert.disk_low"],
  filter: { experience_id: 7, group_id: 3, attribute: { sku: "A-1", batch: "B" }, world: "all" },
  include: ["uid"],
} as unknown as Webhook;

test("a webhook that is saved as it is stays as it is", () => {
  const { url, events, filter, include } = bodyOf(formOf(stored), stored);
  expect({ url, events, filter, include }).toEqual({
    url: stored.url,
    events: stored.events,
    filter: stored.filter,
    include: stored.include,
  });
});

test("what the form no longer has is removed, and what it newly has is whole", () => {
  const form = formOf(stored);
  form.experience_id = "";
  form.attribute = [
    { key: " batch ", value: "C" },
    { key: "", value: "" },
  ];
  form.events = ["updated", "alerts"];
  const body = bodyOf(form, stored);
  expect(body.filter).toEqual({ experience_id: null, group_id: 3, world: "all", attribute: { sku: null, batch: "C" } });
  expect(body.events).toEqual(["tag.updated", "alert.disk_low"]);
  const fresh = bodyOf({ ...blank(), events: ["alerts"] });
  expect(fresh.events).toEqual(alerts.map(({ kind }) => kind));
  expect(fresh.filter).toEqual({ experience_id: null, group_id: null, world: "live", attribute: {} });
});

test("a filter is said in words, and one that narrows nothing is not", () => {
  expect(
    filterInWords(
      stored,
      () => "Register",
      () => "Grand Cru",
    ),
  ).toBe("only Register; only Grand Cru; only sku = A-1; only batch = B; simulated, too; with UID");
  // Inactive filters are absent.
  expect(
    filterInWords(
      { filter: { world: "live" }, include: [] } as unknown as Webhook,
      () => "",
      () => "",
    ),
  ).toBe("");
});
