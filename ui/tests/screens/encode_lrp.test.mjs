import assert from "node:assert/strict";
import { group } from "./suite.mjs";

/** A template whose chips are switched to LRP mode, made once for each service. */
async function template(api) {
  const name = "Bottles in LRP mode";
  const { items } = await api.get("/url-templates");
  return (
    items.find((one) => one.name === name) ??
    (await api.post("/url-templates", {
      name,
      template: "https://lrp.example.com/v/{slug}?p={picc}&m={mac}",
      technology: "ntag424dna",
      mode: "lrp",
    }))
  );
}

const newRun = async (page, { api }) => {
  const { id } = await template(api);
  await page.show("encode");
  await page.getByRole("button", { name: "New run" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name", { exact: true }).fill("Roll in LRP mode");
  await dialog.getByLabel("Chip and URL").selectOption(String(id));
  return dialog;
};

group("Encoding in LRP mode", {
  states: { "a run of chips in LRP mode": newRun },
  stories: {
    "switches chips to LRP mode only once that was agreed to, after it was said that it is for ever": async (page, { api }) => {
      const dialog = await newRun(page, { api });
      const agreed = dialog.getByRole("checkbox", { name: "Switch the chip to LRP mode permanently" });
      const create = dialog.getByRole("button", { name: "Create run of 50 inlays" });
      assert.equal(await agreed.isChecked(), false);
      assert.ok(await create.isDisabled());
      await dialog.getByText("This cannot be undone: the chip takes only URLs of LRP mode from then on, and cannot be wiped.").waitFor();
      const planned = dialog.getByRole("complementary", { name: "Preview of each inlay" });
      await planned.getByText("LRP. This cannot be undone").waitFor();
      await agreed.check();
      assert.ok(await create.isEnabled());
      await agreed.uncheck();
      assert.ok(await create.isDisabled());

      // Another form of URL neither asks for it nor keeps it.
      await dialog.getByLabel("Chip and URL").selectOption("ntag424dna");
      assert.equal(await agreed.count(), 0);
      // The service says what it gets then.
      await planned.getByText("LRP").first().waitFor({ state: "detached" });
      assert.ok(await create.isEnabled());

      await dialog.getByLabel("Chip and URL").selectOption({ label: "Bottles in LRP mode (NTAG 424 DNA, LRP)" });
      await agreed.check();
      const sent = page.waitForRequest((request) => request.method() === "POST" && request.url().endsWith("/encoding-runs"));
      await create.click();
      const { plan } = (await sent).postDataJSON();
      assert.equal(plan.lrp, true);
      await page.getByRole("heading", { name: "Roll in LRP mode" }).waitFor();
      const [run] = (await api.get("/encoding-runs")).items;
      assert.deepEqual([run.name, run.plan.lrp], ["Roll in LRP mode", true]);
    },
  },
});
