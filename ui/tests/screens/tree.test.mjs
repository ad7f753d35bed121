// What assistive technology is given: the tables of the lists with the names of their columns, the
// fields of the dialogs, and the results of a test sheet.

import assert from "node:assert/strict";
import { readerHost } from "./host.mjs";
import { sent } from "./sent.mjs";
import { group } from "./suite.mjs";
import { tableOf, treeOf } from "./tree.mjs";

const grid = async (page, name) => {
  await page.locator(`[role=grid][aria-label="${name}"] [data-row]`).first().waitFor();
  return tableOf(page, "grid", name);
};

group("Assistive technology", {
  stories: {
    "finds the columns of each list by name, and a cell for each of them in every row, in wide windows and small ones": async (
      page,
      { api, tags },
    ) => {
      await sent(api);
      await api.post("/sheets", { name: "Delivery", planned: 5, expected: {} });
      await api.post("/demo");
      await api.post("/master-keys", {
        name: "Roll",
        key: "0123456789ABCDEF".repeat(2),
        derivation: { scheme: "an10922", input: "{uid}" },
      });
      await api.post("/webhooks", { url: "https://shop.example.com/hook", events: ["tap.verified"] });
      await api.post("/notifications", { kind: "report", every: "week", channel: { mail: ["anna@example.com"] } });
      const lists = [
        ["tags", "Tags", ["Selected", "Status", "Name", "Slug", "Experience", "Taps", "Last tap", "Actions"]],
        ["interactions", "Interactions", ["State", "Tag", "Experience", "Scanned", "Country", "No.", "Time"]],
        ["inlays", "Inlays", ["State", "UID", "Tag", "Chip", "URL template", "Keys", "Counter"]],
        ["submissions", "Submissions", ["Tag", "Values", "State", "Time"]],
        ["settings/audit", "Audit log", ["Change", "Who", "Time", "Actions"]],
        ["sheets", "Test sheets", ["Status", "Name", "Tested", "State", "Created"]],
        ["simulator", "Virtual inlays", ["Tag", "Slug", "UID", "Code", "Simulated", "Reads"]],
        ["settings/tokens", "Tokens", ["Name", "May", "Ends", "Last used", "Actions"]],
        ["settings/keys", "Master keys", ["Name", "Check value", "Derivation", "Warning", "Actions"]],
        ["settings/webhooks", "Webhooks", ["URL", "Events", "Delivery", "Actions"]],
        ["settings/notifications", "Notifications", ["Recipients", "Subject", "State", "Actions"]],
        ["settings/connections", "Connections", ["State", "Name", "Server URL", "Actions"]],
      ];
      for (const [place, name, columns] of lists) {
        await page.setViewportSize({ width: 1920, height: 1080 });
        await page.show(place);
        const wide = await grid(page, name);
        assert.deepEqual(wide.columns, columns, place);
        assert.ok(
          wide.cells.every((cells) => cells === columns.length),
          `${place}: ${wide.cells.join()}`,
        );
        await page.setViewportSize({ width: 1024, height: 700 });
        const small = await grid(page, name);
        assert.ok(
          small.cells.every((cells) => cells === small.columns.length),
          `${place}, small: ${small.columns.length} columns, ${small.cells.join()}`,
        );
      }
      await page.show(`tags?q=${tags[46].slug}`);
      const { rows, headers } = await grid(page, "Tags");
      assert.equal(rows[0].Name, tags[46].name);
      assert.equal(rows[0].Slug, tags[46].slug);
      assert.equal(rows[0].Status, "active");
      assert.match(rows[0].Taps, /^\d+ taps?$/);
      assert.deepEqual(headers[0], [tags[46].name]);
    },
    "finds a name for each field and button of the dialogs": async (page) => {
      const dialogs = [
        ["tags?new=tag", "New tag"],
        ["inlays?new=inlay", "New inlay"],
        ["experiences?new=experience", "New experience"],
        ["sheets?new=sheet", "New test sheet"],
        ["simulator?new=inlay", "New virtual inlay"],
      ];
      for (const [place, name] of dialogs) {
        await page.show(place);
        await page.getByRole("dialog").waitFor();
        const dialog = (await treeOf(page)).find((node) => node.role === "dialog");
        assert.equal(dialog.name, name);
        const controls = dialog.below().filter((node) => node.focusable);
        assert.ok(controls.length > 2, place);
        assert.deepEqual(
          controls.filter((node) => !node.name).map((node) => node.role),
          [],
          place,
        );
      }
    },
    "finds the results of a test sheet in a table with named columns": async (page, world) => {
      const { equipped, ui, api } = world;
      const { id } = await api.post("/sheets", { name: "Walked", planned: 2, expected: { tag_verified: true } });
      const desk = await readerHost(page, ui);
      await page.show(`sheets/${id}`);
      const { tag, inlay } = equipped[3];
      await desk.place(inlay.uid, `${ui.service}/t/${tag.slug}${inlay.read()}`);
      await page.locator("[data-result]").waitFor();
      const { columns, rows } = await tableOf(page, "table", "Results");
      assert.deepEqual(columns, ["No.", "Verdict", "UID", "Tag", "Counter", "Reason", "Time"]);
      assert.equal(rows[0].UID, inlay.uid);
    },
  },
});
