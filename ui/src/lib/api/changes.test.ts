import { expect, test } from "vitest";
import { eventConcerns, writeConcerns } from "./changes";
import type { LiveEvent } from "./types";

const tap = { event: "interaction", interaction_id: 5, tag_id: 7 } as LiveEvent;
const sent = { event: "submission", interaction_id: 5, tag_id: 7, experience_id: 3 } as LiveEvent;
const alert = { event: "alert", message: "The disk is full." } as LiveEvent;

const changed = (kind: string, id: number | null = null) => ({ event: "changed", kind, id }) as LiveEvent;

test.each([
  [changed("url-templates", 3), "/url-templates/{id}", { id: 3 }, true],
  [changed("url-templates", 3), "/url-templates/{id}", { id: 4 }, false],
  [changed("url-templates", 3), "/url-templates", {}, true],
  [changed("tags"), "/tags/{id}", { id: 4 }, true],
  // The id of a tag is no id of an interaction.
  [changed("tags", 7), "/interactions/{id}", { id: 5 }, true],
  [changed("interactions", 5), "/interactions/{id}", { id: 5 }, true],
  [changed("interactions", 5), "/interactions/{id}", { id: 6 }, false],
  [changed("interactions", 5), "/tags/{id}", { id: 7 }, false],
  [changed("interactions", 5), "/submissions", {}, false],
  [changed("interactions"), "/tags/{id}", { id: 7 }, true],
  [changed("interactions"), "/submissions", {}, true],
  [changed("encodings", 2), "/encoding-runs/{id}", { id: 3 }, true],
  [changed("unlisted-chips"), "/url-templates/{id}", { id: 3 }, true],
  [changed("tag-url"), "/tag-url", {}, true],
  [changed("backup"), "/backup/schedule", {}, true],
  [changed("mail"), "/settings", {}, false],
])("a change by anyone concerns the responses that it may have changed", (event, path, about, concerned) => {
  expect(eventConcerns(event, path, about)).toBe(concerned);
});

test.each([
  [tap, "/tags/{id}", { id: 7 }, true],
  [tap, "/tags/{id}", { id: 8 }, false],
  [tap, "/interactions/{id}", { id: 5 }, true],
  [tap, "/interactions/{id}", { id: 7 }, false],
  [tap, "/interactions", { tag_id: 7 }, true],
  [tap, "/interactions", { tag_id: 8 }, false],
  [tap, "/inlays/{id}", { id: 5, tag_id: 7 }, true],
  [tap, "/inlays/{id}", { id: 5, tag_id: null }, false],
  [tap, "/experiences", {}, false],
  [{ ...tap, simulated: false } as LiveEvent, "/simulator/inlays", {}, false],
  [{ ...tap, simulated: true } as LiveEvent, "/simulator/inlays", {}, true],
  [{ ...tap, simulated: false } as LiveEvent, "/tags", { simulated: "true" }, false],
  [{ ...tap, simulated: true } as LiveEvent, "/tags", { simulated: "true" }, true],
  [{ ...tap, simulated: false } as LiveEvent, "/tags", {}, true],
  [sent, "/submissions", { experience_id: 3 }, true],
  [sent, "/submissions", { experience_id: 4 }, false],
  [alert, "/tags", {}, false],
])("an event concerns only the responses that it may have changed", (event, path, about, concerned) => {
  expect(eventConcerns(event, path, about)).toBe(concerned);
});

test.each([
  ["/experiences/3/publish", "/experiences", true],
  ["/tags/7", "/tags/{id}", true],
  ["/tags/7", "/experiences", false],
  ["/tags/import?dry_run=false", "/experiences", true],
  ["/tags/import?dry_run=false", "/groups", true],
  ["/tags", "/groups", true],
  ["/tags/7", "/groups/{id}", true],
  ["/tags/bulk", "/groups", true],
  ["/groups/3/image", "/groups/{id}", true],
  ["/tags/7/attributes/x", "/groups", false],
  ["/tags/7/attributes/x", "/interactions", true],
  ["/demo", "/experiences", true],
  ["/settings", "/tag-url", false],
  ["/submissions/5/save", "/tags/{id}", true],
  ["/submissions/erase", "/interactions/{id}", true],
  ["/interactions/5/visitor", "/submissions", true],
  ["/tags/7/traces", "/submissions", true],
  ["/factory-orders/3/import?dry_run=false", "/inlays", true],
  ["/demo", "/interactions", true],
  ["/demo", "/url-templates", true],
  ["/backup", "/encoding-root", true],
])("a write to %s concerns %s: %s", (written, path, concerned) => {
  expect(writeConcerns(written, path)).toBe(concerned);
});
