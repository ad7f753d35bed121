// The steps of *Move in*, as the stories of a move take them.

import assert from "node:assert/strict";

export const OWN = "Another service, or my own list";
export const lines = (...texts) => texts.join("\n");

/** Begins a move from this service. */
export async function begin(page, service) {
  await page.show("move?step=service");
  await page.getByRole("button", { name: service }).click();
}

/**
 * Pastes URLs with their keys, and waits for the answer. A search ends after a short time of the computer, so that on a
 * slow machine only one of some attempts need reach its end.
 */
export async function solve(page, urls, { keys = "", masters = "" } = {}) {
  await page.getByLabel("URLs").fill(urls);
  await page.getByLabel("Keys", { exact: true }).fill(keys);
  await page.getByLabel("Master keys").fill(masters);
  for (let attempt = 1; attempt <= 10; attempt++) {
    await page.getByRole("button", { name: "Find the format" }).click();
    await page.getByRole("region", { name: "Answer" }).waitFor();
    if ((await page.getByText("Time ran out").count()) === 0) return;
  }
}

/** Stores the format that was proved. */
export async function use(page, name, allowsFactoryKey = false) {
  await page.getByRole("heading", { name: "Proved" }).waitFor();
  await store(page.getByRole("button", { name: "Use this template…" }), name, allowsFactoryKey);
}

/** Stores one of several formats, by its template and its chip. */
export async function useOneOf(page, name, template, chip) {
  const formats = page.getByRole("region", { name: "Answer" }).getByRole("article");
  const format = formats.filter({ has: page.getByText(template, { exact: true }) }).filter({ has: page.getByText(chip, { exact: true }) });
  await store(format.getByRole("button", { name: /Use this template…|Start a template from this…/ }), name);
}

async function store(button, name, allowsFactoryKey = false) {
  await button.click();
  const page = button.page();
  await page.getByRole("dialog").getByLabel("Name").fill(name);
  const create = page.getByRole("button", { name: "Create and continue" });
  if (allowsFactoryKey) {
    assert.ok(await create.isDisabled());
    await page.getByLabel("Allow the factory key").check();
  }
  await create.click();
  await page.getByRole("article", { name }).waitFor();
  // Both forms were sent: nothing that was typed is left.
  assert.equal(await page.locator(".notice", { hasText: "not saved" }).count(), 0);
}

export const next = (page) => page.getByRole("button", { name: "Continue", exact: true }).click();

/** The choice of the former service, once the formats of former services are known. */
export async function exportedBy(page) {
  const choice = page.getByLabel("Exported by").and(page.locator(":enabled"));
  await choice.waitFor();
  return choice;
}

export async function upload(page, rows, meanings = {}) {
  const file = { name: "chips.csv", mimeType: "text/csv", buffer: Buffer.from(lines(...rows)) };
  await exportedBy(page);
  await page.getByLabel("File", { exact: true }).setInputFiles(file);
  await page.getByText(file.name, { exact: true }).waitFor();
  for (const [heading, meaning] of Object.entries(meanings)) await page.getByLabel(`Import ${heading} as`).selectOption(meaning);
  await page.getByRole("button", { name: "Check" }).click();
}

export async function importAll(page, number) {
  await page.getByText(`${number} ${number === 1 ? "row" : "rows"} can be imported`).waitFor();
  await page.getByRole("button", { name: "Import", exact: true }).click();
  await page.getByText(`${number} ${number === 1 ? "row" : "rows"} imported`).waitFor();
}

export const arrived = (page, name) => page.getByText(`${name}: the first verified tap has arrived`).waitFor();

/** The way from the table to the last step. */
export async function last(page) {
  await page.getByRole("link", { name: /Switch over/ }).click();
  await page.getByRole("heading", { name: /^Lead / }).waitFor();
}
