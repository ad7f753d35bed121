// The ways to the screens of the guides. They come after all others, because they create groups and runs.

import { asking, run } from "./more_pictures.mjs";
import { wines } from "./wines.mjs";

const BOTTLES = 24;
const button = (page, name) => page.getByRole("button", { name, exact: true });

const product = async (page, { api }) => {
  const { product } = await wines(api, BOTTLES);
  await page.show(`tags/group-${product.id}?group=${product.id}`);
  await page.getByLabel("Selected group").getByRole("heading", { name: "Batches" }).waitFor();
};

/** Name, way to the screen, and what is unusual about the picture. */
export const guides = [
  [
    "encode-new",
    async (page) => {
      await asking("encode", "New run")(page);
      await page.getByRole("dialog").getByText("Dry run: every step").waitFor();
    },
    { readme: true },
  ],
  [
    "encode-run",
    async (page, world) => {
      await page.show(`encode/${await run(world)}`);
      await page.getByRole("heading", { name: "How a run works" }).waitFor();
    },
    { readme: true },
  ],
  ["product", product, { size: { width: 1600, height: 900 }, readme: true }],
  ["product-dark", product, { theme: "dark" }],
  [
    "recall",
    async (page, world) => {
      await product(page, world);
      await button(page.getByLabel("Selected group"), "More actions for Grand Cru 2021").click();
      await page.getByRole("menuitem", { name: "Recall…" }).click();
      await page.getByText("in the last 30 days").waitFor();
    },
    { readme: true },
  ],
  [
    "labels",
    async (page, { api }) => {
      await wines(api, BOTTLES);
      await page.show("tags?q=wine");
      for (const number of [23, 24]) await page.getByRole("checkbox", { name: `Select Wine bottle ${number}`, exact: true }).check();
      await button(page, "Print labels…").click();
      await page
        .getByRole("dialog")
        .getByRole("img", { name: /First label/ })
        .waitFor();
    },
    { readme: true },
  ],
];
