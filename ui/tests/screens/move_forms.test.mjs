// Every published form of URLs, moved in by the wizard up to a tap at its old address. The stories of
// the real window make the same moves.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { arrived, begin, importAll, lines, next, solve, upload, use, useOneOf } from "./moves.mjs";
import { group } from "./suite.mjs";
import { tapAt } from "./tapAt.mjs";

const moves = JSON.parse(readFileSync(new URL("../../../tests/vectors/moves.json", import.meta.url), "utf8"));

/** Finds the format of each reel, and stores it. */
async function findAll(page, host, reels) {
  for (const [at, { name, urls, keys = [], master_keys = [], format, shared_factory_key }] of reels.entries()) {
    if (at > 0) await page.getByRole("button", { name: "Add another reel" }).click();
    const pasted = lines(...urls.map((path) => `https://${host}${path}`));
    await solve(page, pasted, { keys: lines(...keys), masters: lines(...master_keys) });
    if (format) await useOneOf(page, name, format.template, format.chip);
    else await use(page, name, shared_factory_key);
  }
  await next(page);
}

async function importTable(page, { table, meanings, counter, factory_keys }) {
  await upload(page, table, meanings);
  if (counter) {
    await page.getByLabel("Counters of the file are").selectOption(counter);
    await page.getByRole("button", { name: "Check" }).click();
  }
  if (factory_keys) {
    // Anyone can make codes with these keys, so a person has to allow them.
    await page.getByText("The factory key is known to everyone").first().waitFor();
    await page.getByLabel("Allow factory keys").check();
    await page.getByRole("button", { name: "Check" }).click();
  }
  await importAll(page, table.length - 1);
}

/** Imports the table of each reel that has one, and goes on to the chips that no table lists. */
async function importTables(page, reels) {
  const listed = reels.filter(({ table }) => table);
  for (const [at, reel] of listed.entries()) {
    if (at > 0) await page.getByRole("button", { name: "Import another file" }).click();
    // The first reel without inlays is chosen.
    await importTable(page, reel);
  }
  if (listed.length > 0) await next(page);
  else await page.getByRole("button", { name: "Continue without a table" }).click();
  // The next step has a button of the same name.
  await page.getByText("A chip that is missing in your table is unlisted.").waitFor();
}

async function moveIn(page, { api, ui }, { service, host, reels, taps }) {
  await begin(page, service);
  await findAll(page, host, reels);
  await importTables(page, reels);
  for (const { unlisted } of reels) if (unlisted) await page.locator("label", { hasText: unlisted }).click();
  // By a key: a click so soon at the place of the last one is the second half of a double click.
  await page.getByRole("button", { name: "Continue", exact: true }).press("Enter");
  // It saves the choices first. A link to the next step would not wait for that.
  await page.getByRole("heading", { name: /^Lead / }).waitFor();
  for (const { path } of taps) await tapAt(ui.service, host, path);
  const verifies = taps.some(({ verified }) => verified);
  for (const { name } of reels)
    if (verifies) await arrived(page, name);
    else await page.getByText(`${name}: the first tap has arrived`).waitFor();
  await page.getByRole("heading", { name: "You have moved in" }).waitFor();
  await page.getByText(verifies ? "was verified here" : "cannot be verified").waitFor();
  const { items } = await api.get(`/interactions?limit=${taps.length}`);
  assert.deepEqual(
    items.reverse().map(({ tag_verified, reason, tamper }) => ({ verified: tag_verified, reason, ...(tamper && { tamper }) })),
    taps.map(({ verified, reason, tamper }) => ({ verified, reason, ...(tamper && { tamper }) })),
  );
}

group("The move of each published form", {
  stories: Object.fromEntries(
    moves.map((move) => [`${move.name}: ends with its verdict at the old address`, (page, world) => moveIn(page, world, move)]),
  ),
});
