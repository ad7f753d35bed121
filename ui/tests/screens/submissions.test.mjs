import assert from "node:assert/strict";
import { choose, narrow, select } from "./browser.mjs";
import { sent } from "./sent.mjs";
import { group } from "./suite.mjs";

const open = async (page, { api }, place = "") => {
  await sent(api);
  await page.show(`submissions${place}`);
  await page.getByRole("grid", { name: "Submissions" }).waitFor();
};

group("Submissions", {
  states: {
    list: (page, world) => open(page, world),
    "one of them": async (page, { api }) => {
      const { items } = await sent(api);
      await page.show(`submissions/${items.at(-1).id}`);
      await page.getByText("As it was shown in version 1").waitFor();
    },
    "none that match": async (page, { api }) => {
      await sent(api);
      await page.show("submissions?q=nobody");
      // In a small window the pane lies over the list.
      await page.getByText("No submission matches").waitFor({ state: "attached" });
    },
    "of a tag": async (page, { api }) => {
      const { tag } = await sent(api);
      await page.show(`tags/${tag.id}?part=taps`);
      await page.getByRole("link", { name: /Show \d+ submission/ }).waitFor();
    },
    "of an experience": async (page, { api }) => {
      const { experience } = await sent(api);
      await page.show(`experiences/${experience.id}`);
      await page.getByRole("heading", { name: "Submissions" }).waitFor();
    },
    "of a tap": async (page, { api }) => {
      const { items } = await sent(api);
      await page.show(`interactions/${items.at(-1).interaction_id}`);
      await page.getByRole("region", { name: "Submission" }).waitFor();
    },
    "the question before a person is erased": async (page, world) => {
      await open(page, world);
      await page.getByRole("button", { name: "Erase a person…" }).click();
      await page.getByLabel("Text that the person sent").fill("ada@example.com");
      await page.getByLabel("Erase 1 submission with the text").waitFor();
    },
  },
  stories: {
    "lead to their tap, and the tap back to them": async (page, { api }) => {
      const { items } = await sent(api);
      const [one] = items.filter(({ fields }) => fields[0].value === "Ada Lovelace");
      await page.show(`submissions/${one.id}`);
      const pane = page.getByLabel("Selected submission");
      await pane.getByRole("link", { name: /^Open the tap/ }).click();
      const tap = page.getByLabel("Selected interaction");
      await tap.getByRole("region", { name: "Submission" }).getByText("Ada Lovelace").waitFor();
      assert.match(page.url(), new RegExp(`interactions/${one.interaction_id}$`));
      await tap.getByRole("link", { name: /^Open submission/ }).click();
      await pane.getByText("Ada Lovelace").waitFor();
      // A tap that sent no form has no such part.
      const [other] = (await api.get("/interactions?verification=verified&limit=1")).items;
      await page.show(`interactions/${other.id}`);
      await tap.getByRole("region", { name: "URL", exact: true }).waitFor();
      assert.equal(await tap.getByRole("region", { name: "Submission" }).count(), 0);
    },
    "and taps of an experience are counted by it, and it leads to both": async (page, { api }) => {
      const { experience, tag } = await sent(api);
      await api.form(tag.slug);
      const { totals } = await api.get(`/reports?experience_id=${experience.id}`);
      await page.show(`experiences/${experience.id}`);
      const taps = page.getByRole("region", { name: "Conversion" });
      const share = `${Math.round((totals.submissions / totals.taps) * 100)}%`;
      await taps.getByRole("listitem").filter({ hasText: "Submissions" }).getByText(share).waitFor();
      assert.equal(await taps.getByRole("listitem").filter({ hasText: "Taps" }).locator(".number").textContent(), String(totals.taps));
      // Another period, without a tap.
      await taps.getByRole("button", { name: "Dates: Last 30 days" }).click();
      await page.getByRole("dialog", { name: "Dates" }).getByRole("button", { name: "Last month" }).click();
      await taps.getByText("No taps in this period").waitFor();
      await taps.getByRole("button", { name: "Remove filter Dates" }).click();
      await taps.getByRole("link", { name: "Taps" }).click();
      await page.getByRole("button", { name: "Experience: Warranty card" }).waitFor();
      const rows = page.getByRole("grid", { name: "Interactions" }).locator("[data-row]");
      await page.waitForFunction((taps) => document.querySelectorAll("[data-row]").length === taps, totals.taps);
      assert.equal(await rows.first().getByText("Warranty card").count(), 1);
      await page.goBack();
      await taps.getByRole("link", { name: "Submissions" }).click();
      await page.getByText(`${totals.submissions} submissions`, { exact: true }).waitFor();
    },
    "that could not be saved are announced, shown with the reason, and saved once it is gone": async (page, { api }) => {
      const fields = [{ label: "Serial number", kind: "text", variable: "serial_number", required: true }];
      const blocks = [{ type: "form", fields, submit_label: "Send" }];
      const { id } = await api.post("/experiences", { name: "Asks for a serial number", kind: "studio", blocks });
      const tag = await api.post("/tags", { name: "Lamp without a variable", experience_id: id, add_variables: false });
      for (const serial_number of ["SN-1", "SN-2"]) assert.equal(await api.update(await api.form(tag.slug), { serial_number }), 400);
      await page.show(`submissions?tag=${tag.id}`);
      await page.getByText("2 entries were received and could not be saved.").waitFor();
      await page.getByRole("button", { name: "Show them" }).click();
      const list = page.getByRole("grid", { name: "Submissions" });
      await list.getByText("not saved").first().waitFor();
      await list.getByText("SN-2").click();
      const pane = page.getByLabel("Selected submission");
      await pane.getByText("The tag has no variable serial_number.").waitFor();
      await pane.getByRole("button", { name: "Add variable and save" }).click();
      await page.getByText("Entry saved.").waitFor();
      await list.getByText("SN-2").waitFor({ state: "detached" });
      assert.equal((await api.get(`/tags/${tag.id}`)).variables.serial_number, "SN-2");
      await page.show(`submissions?tag=${tag.id}&state=refused`);
      await list.getByText("SN-1").click();
      await pane.getByText("can be saved").waitFor();
      await pane.getByRole("button", { name: "Save entry" }).click();
      // In a small window the pane lies over the list.
      await page.getByText("No submission matches").waitFor({ state: "attached" });
      assert.equal((await api.get(`/submissions?tag_id=${tag.id}`)).items.length, 2);
      // Many tags that are assigned get the variables, and lose them again if that is undone.
      const other = await api.post("/tags", { name: "Lamp to be assigned" });
      await page.show("tags?q=Lamp%20to%20be");
      await select(page, "Lamp to be assigned");
      await choose(page, "Assign an experience", "Asks for a serial number");
      await page.getByText("Lamp to be assigned assigned. 1 variable added to 1 tag.").waitFor();
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByText("Undone.").waitFor();
      assert.deepEqual((await api.get(`/tags/${other.id}`)).variables, {});
    },
    "are searched and filtered": async (page, world) => {
      await open(page, world);
      const list = page.getByRole("grid", { name: "Submissions" });
      await page.getByLabel("Search submissions").fill("HOPPER");
      await page.getByText("1 submission", { exact: true }).waitFor();
      assert.match(await list.innerText(), /Grace Hopper/);
      await page.getByLabel("Search submissions").fill("");
      await narrow(page, "Consent", "Without consent");
      // The whole list shows both of them until then.
      await list.getByText(/Grace/).waitFor({ state: "hidden" });
      await list.getByText(/Jürgen/).waitFor();
      assert.match(page.url(), /consent=false/);
      const cut = await page.locator(".chip-words").evaluate((words) => words.scrollWidth - words.clientWidth);
      assert.equal(cut, 0, "the chip has room for its words");
      await page.getByRole("button", { name: "Remove filter Consent" }).click();
      await list.getByText(/Grace/).waitFor();
    },
    "are exported with the filters": async (page, world) => {
      await open(page, world, "?q=grace");
      const asked = page.waitForRequest(/submissions\/export/);
      await page.getByRole("button", { name: "Export submissions" }).click();
      await page.getByRole("menuitem", { name: "CSV…" }).click();
      assert.match((await asked).url(), /q=grace/);
    },
    "wait while somebody reads, and are shown on demand": async (page, world) => {
      const { tag } = await sent(world.api);
      await open(page, world);
      const list = page.getByRole("grid", { name: "Submissions" });
      await page.keyboard.press("j");
      const read = await list.locator("a").first().getAttribute("href");
      const rk = await world.api.form(tag.slug);
      await world.api.update(rk, { name: "Late Reader", email: "late@example.com", message: "", agreed: "true" });
      const fresh = page.getByRole("button", { name: "1 new" });
      await fresh.waitFor();
      assert.equal(await list.locator("a").first().getAttribute("href"), read);
      await fresh.click();
      await list.getByText(/Late Reader/).waitFor();
      await fresh.waitFor({ state: "hidden" });
    },
    "appear as they are sent, and are erased after a question, one or all of a person": async (page, world) => {
      const { tag } = await sent(world.api);
      await open(page, world);
      const list = page.getByRole("grid", { name: "Submissions" });
      const send = async (name) => {
        const rk = await world.api.form(tag.slug);
        await world.api.update(rk, { name, email: "mary@example.com", message: "", agreed: "true" });
        await list.getByText(new RegExp(name)).waitFor();
      };
      await send("Mary One");
      await list.getByText(/Mary One/).click();
      await page.getByRole("button", { name: "Erase submission…" }).click();
      const question = page.getByRole("dialog");
      await question.getByText("The tap, its verdict").waitFor();
      await question.getByRole("button", { name: "Cancel" }).click();
      // The pane covers the list in a small window.
      await page.getByLabel("Selected submission").getByText("Mary One").waitFor();
      await page.getByRole("button", { name: "Erase submission…" }).click();
      await question.getByRole("button", { name: "Erase submission" }).click();
      await page.getByText("Submission erased.").waitFor();
      await list.getByText(/Mary One/).waitFor({ state: "detached" });
      await send("Mary Two");
      await page.getByRole("button", { name: "Erase a person…" }).click();
      await page.getByLabel("Text that the person sent").fill("MARY@example.com");
      await page.getByLabel("Erase 1 submission with the text").check();
      await page.getByRole("button", { name: "Erase 1 submission" }).click();
      await page.getByText("1 submission erased.").waitFor();
      assert.equal((await world.api.get("/submissions?q=mary")).items.length, 0);
    },
  },
});
