import assert from "node:assert/strict";
import { group } from "./suite.mjs";
import { client } from "./world.mjs";

const says = (place, words) => async (page) => {
  await page.show(place);
  await page.getByText(words).first().waitFor();
};

/** The service does not answer for a list. */
const failing = (place, path, words) => async (page) => {
  await page.route(path, (route) =>
    route.fulfill({ status: 503, contentType: "application/problem+json", body: '{"detail":"The disk is full."}' }),
  );
  await page.show(place);
  await page.getByText(words).first().waitFor();
  await page.getByText("The disk is full.").first().waitFor();
  await page.unroute(path);
};

group("A screen without anything to show", {
  empty: true,
  states: {
    overview: says("overview", "First steps"),
    tags: says("tags", "No tags yet"),
    "tags that do not match": says("tags?q=nothing", "No tag matches"),
    experiences: says("experiences", "No experiences yet"),
    interactions: says("interactions", "No taps yet"),
    submissions: says("submissions", "No submissions yet"),
    "submissions that cannot be shown": failing("submissions", "**/admin/v1/submissions?*", "Submissions could not be loaded"),
    inlays: says("inlays", "No inlays yet"),
    "URL templates": says("templates", "No URL templates yet"),
    "inlays that cannot be shown": failing("inlays", "**/admin/v1/inlays?*", "Inlays could not be loaded"),
    "URL templates that cannot be shown": failing("templates", "**/admin/v1/url-templates?*", "URL templates could not be loaded"),
    simulator: says("simulator", "No virtual inlays yet"),
    "master keys": says("settings/keys", "No master keys yet"),
    "a tag that is gone": says("tags/99", "no longer exists"),
    "tags that cannot be shown": failing("tags", "**/admin/v1/tags?*", "Tags could not be loaded"),
    "an overview that cannot be shown": failing("overview", "**/admin/v1/stats?*", "The overview could not be loaded"),
    "interactions that cannot be shown": failing("interactions", "**/admin/v1/interactions?*", "Interactions could not be loaded"),
    "settings that cannot be shown": failing("settings", "**/admin/v1/settings", "The disk is full."),
  },
  stories: {
    "offers the next action, which does it": async (page) => {
      await page.show("tags");
      await page.getByRole("button", { name: "Create the first tag" }).click();
      await page.getByLabel("Name", { exact: true }).fill("Bottle 41");
      await page.getByRole("button", { name: "Create", exact: true }).click();
      await page.getByRole("heading", { name: "Bottle 41" }).waitFor();
      assert.match(page.url(), /#\/tags\/\d+$/);
    },
    "checks no first step off for the demo data": async (page, { ui }) => {
      const api = client(ui);
      await api.post("/demo", {});
      await page.show("overview");
      const steps = page.getByRole("region", { name: "First steps" });
      await steps.getByText("0 of 6").waitFor();
      const own = await api.post("/experiences", { name: "My page", kind: "redirect", target_url: "https://example.com/" });
      await page.reload();
      await steps.getByText("1 of 6").waitFor();
      // What is done stays done.
      await api.remove(`/experiences/${own.id}`);
      await page.reload();
      await steps.getByText("1 of 6").waitFor();
      await page.getByRole("button", { name: "Remove demo data" }).click();
      await page.getByText("Demo data removed").waitFor();
    },
    "shows the form of a master key once somebody wants one": async (page) => {
      await page.show("settings/keys");
      await page.getByText("No master keys yet").waitFor();
      assert.equal(await page.getByLabel("Key", { exact: true }).count(), 0);
      await page.getByRole("button", { name: "New master key…" }).click();
      await page.getByLabel("Key", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Cancel" }).click();
      await page.getByText("No master keys yet").waitFor();
    },
    "a double click on what adds the demo data does not remove it": async (page, { ui }) => {
      const demo = async () => (await client(ui).get("/tags?simulated=true&q=demo-")).items.length;
      await page.show("overview");
      await page.getByRole("button", { name: "Add demo data" }).dblclick();
      await page.getByText("demo tags with virtual inlays").waitFor();
      assert.equal(await demo(), 3);
      await page.getByRole("button", { name: "Remove demo data" }).click();
      await page.getByText("Demo data removed").waitFor();
      assert.equal(await demo(), 0);
    },
    "a list that failed is shown once the service answers again": async (page) => {
      await failing("tags", "**/admin/v1/tags?*", "Tags could not be loaded")(page);
      await page.getByRole("button", { name: "Try again" }).click();
      await page.getByText("Tags could not be loaded").waitFor({ state: "hidden" });
    },
  },
});
