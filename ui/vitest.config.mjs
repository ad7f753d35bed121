// Two kinds of unit tests: code without components, in Node, and components that are mounted in the system's
// Chromium, where focus, heights and scrolling are those that people have.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { playwright } from "@vitest/browser-playwright";
import { defineConfig, mergeConfig } from "vitest/config";
import { chromiumOptions } from "./tests/screens/chromium.mjs";
import vite from "./vite.config.ts";

const mounted = "src/**/*.mounted.test.ts";

// To load the modules costs four times as much as the tests do: they are loaded once by each thread. A test that
// replaces a module or a global has modules of its own.
const REPLACES = /\bvi\.(mock|doMock|hoisted|stubGlobal|spyOn|useFakeTimers|resetModules)\b|globalThis\.\w+ =[^=]/;
const src = fileURLToPath(new URL("src/", import.meta.url));
const replacing = readdirSync(src, { recursive: true })
  .filter((name) => name.endsWith(".test.ts") && !name.endsWith(".mounted.test.ts") && REPLACES.test(readFileSync(src + name, "utf8")))
  .map((name) => `src/${name}`);

export default mergeConfig(
  vite,
  defineConfig({
    test: {
      // A slow machine is no failure.
      testTimeout: 120_000,
      projects: [
        {
          extends: true,
          test: { name: "code", include: ["src/**/*.test.ts"], exclude: [mounted, ...replacing], pool: "threads", isolate: false },
        },
        { extends: true, test: { name: "replaced", include: replacing, pool: "threads" } },
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
              // The browser starts beside everything else that a test run starts.
              connectTimeout: 600_000,
              // The next free port, so that runs go side by side: the one of the development server is fixed.
              api: { strictPort: false },
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
