// The tests of the screens, and of the page kit. Each file starts a service of its own, so that files run side by side;
// no more than two, because what is looked at is drawn by the processor.

import { defineConfig } from "@playwright/test";
import { PATIENCE } from "./tests/screens/browser.mjs";
import { chromiumOptions } from "./tests/screens/chromium.mjs";

// Pictures are for people: the stories come to the same screens, and look at them in every run.
const { TAPDESK_TEST_LENGTH, UPDATE_SCREENSHOTS, EVERY_SCREENSHOT } = process.env;
const takesPictures = TAPDESK_TEST_LENGTH === "soak" || Boolean(UPDATE_SCREENSHOTS || EVERY_SCREENSHOT);

export default defineConfig({
  testDir: "tests",
  testMatch: "*.test.mjs",
  testIgnore: takesPictures ? [] : "pictures.test.mjs",
  workers: 2,
  // A slow machine is no failure; what never ends is one. Each wait of a test is shorter.
  timeout: 600_000,
  expect: { timeout: PATIENCE },
  forbidOnly: true,
  outputDir: "../target/screens",
  reporter: process.stdout.isTTY ? "list" : [["dot"]],
  use: {
    launchOptions: chromiumOptions(),
    // `--trace=retain-on-failure` keeps what the page was before each step of a test that failed:
    // a quarter of the time goes to what passes then, and is thrown away.
    trace: "off",
  },
});
