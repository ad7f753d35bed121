// Two kinds of unit tests: code without components, in Node, and components that are mounted in the system's
// Chromium, where focus, heights and scrolling are those that people have.

import { playwright } from "@vitest/browser-playwright";
import { defineConfig, mergeConfig } from "vitest/config";
import { chromiumOptions } from "./tests/screens/chromium.mjs";
import vite from "./vite.config.ts";

const mounted = "src/**/*.mounted.test.ts";

export default mergeConfig(
  vite,
  defineConfig({
    test: {
      // A slow machine is no failure.
      testTimeout: 120_000,
      projects: [
        { extends: true, test: { name: "code", include: ["src/**/*.test.ts"], exclude: [mounted] } },
        {
          extends: true,
          // Found while a test runs, they would be loaded anew, and Svelte with them: twice.
          optimizeDeps: { entries: ["index.html", mounted, "src/mounted/*.svelte"], include: ["vitest-browser-svelte"] },
          test: {
            name: "mounted",
            include: [mounted],
            expect: { poll: { timeout: 20_000 } },
            browser: {
              enabled: true,
              headless: true,
              provider: playwright({ launchOptions: chromiumOptions() }),
              instances: [{ browser: "chromium" }],
              viewport: { width: 1024, height: 700 },
              screenshotFailures: false,
            },
          },
        },
      ],
    },
  }),
);
