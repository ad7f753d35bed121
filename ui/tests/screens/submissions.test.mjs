import assert from "node:assert/strict";
import { narrow } from "./browser.mjs";
import { sent } from "./sent.mjs";
import { group } from "./suite.mjs";

const open = async (page, { api }, place = "") => {
  await sent(api);
  await page.show(`submissions${place}`);
  await page.getByRole("list", { name: "Submissions" }).waitFor();
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
      await page.getByText("No submission matches").waitFor();
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
    "the question before a person is erased": async (page, world) => {
      await open(page, world);
      await page.getByRole("button", { name: "Erase a person…" }).click();
      await page.getByLabel("Text that the person sent").fill("ada@example.com");
      await page.getByLabel("Erase 1 submission with the text").waitFor();
    },
  },
  stories: {
    "are searched and filtered": async (page, world) => {
      await open(page, world);
      const list = page.getByRole("list", { name: "Submissions" });
      await page.getByLabel("Search submissions").fill("HOPPER");
      await page.getByText("1 submission", { exact: true }).waitFor();
      assert.match(await list.innerText(), /Grace Hopper/);
      await page.getByLabel("Search submissions").fill("");
      await narrow(page, "Consent", "Without consent");
      await list.getByText(/Jürgen/).waitFor();
      assert.doesNotMatch(await list.innerText(), /Grace/);
      assert.match(page.url(), /consent=false/);
      const cut = await page.locator(".chip-words").evaluate((words) => words.scrollWidth - words.clientWidth);
      assert.equal(cut, 0, "the chip has room for its words");
      await page.getByRole("button", { name: "Remove filter Consent" }).click();
      await list.getByText(/Grace/).waitFor();
    },
    "are exported with the filters": async (page, world) => {
      await open(page, world, "?q=grace");
      const asked = page.waitForRequest(/submissions\/export/);
      await page.getByRole("button", { name: "Export…" }).click();
      assert.match((await asked).url(), /q=grace/);
    },
    "wait while somebody reads, and are shown on demand": async (page, world) => {
      const { tag } = await sent(world.api);
      await open(page, world);
      const list = page.getByRole("list", { name: "Submissions" });
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
      const list = page.getByRole("list", { name: "Submissions" });
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
