// The system's Chromium: Playwright contains no browser. Without its own windows and menus it takes
// a quarter less of the processor.

import { execFileSync } from "node:child_process";
import { slowMo } from "./slow.mjs";

function executable() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const name of ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"]) {
    try {
      return execFileSync("which", [name], { encoding: "utf8" }).trim();
    } catch {
      // The next name.
    }
  }
  throw new Error("Chromium is missing: install Debian's package chromium, or name one in CHROMIUM.");
}

// No page of a test lives long enough to repay compilers that optimise, nor a process that only draws.
const lean = ["--js-flags=--no-opt --no-maglev", "--in-process-gpu"];

export const chromiumOptions = () => ({
  executablePath: executable(),
  slowMo,
  args: [...lean, ...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
});
