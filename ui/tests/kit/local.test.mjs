// The guide to local development: what a developer types in an empty folder, from the service to tests that pass.

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { access, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "@playwright/test";
import { chromiumOptions } from "../screens/chromium.mjs";
import { freePort } from "./ports.mjs";
import { environment, MODULES, PLAYWRIGHT } from "./project.mjs";
import { INSTALL_CHROMIUM, registry } from "./registry.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const GUIDE = join(root, "service/docs/guides/local-development.md");

/** The guide as somebody with this clone has it, at ports that are free here. */
async function guide(clone) {
  const text = await readFile(GUIDE, "utf8");
  const [service, site] = [await freePort(), await freePort()];
  return text.replaceAll("~/tapdesk", clone).replaceAll("8787", `${service}`).replaceAll("8000", `${site}`);
}

/** The files of the guide by name, and its commands in order. */
function typed(text) {
  const files = [...text.matchAll(/^\*\*`([^`\n]+)`\*\*\n\n```\w+\n(.*?)^```$/gms)].map(([, name, content]) => [name, content]);
  const commands = [...text.matchAll(/^```bash\n(.*?)^```$/gms)].map(([, content]) => content);
  return { files, commands };
}

/** Runs commands in a shell, and says all that was printed. Programs that they leave in the background end with the shell. */
const shell = (commands, cwd, env) =>
  new Promise((done, failed) => {
    const script = `set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n${commands}`;
    execFile("bash", ["-c", script], { cwd, env, maxBuffer: 1 << 24 }, (error, out, err) =>
      error ? failed(new Error(`${error.message}\n${out}`)) : done(out + err),
    );
  });

test("from an empty folder to a page that registers a product, by the guide alone", async () => {
  const place = await mkdtemp(join(tmpdir(), "tapdesk-local-"));
  const packages = await registry(MODULES, PLAYWRIGHT);
  try {
    const [clone, folder, home] = ["clone", "shop", "home"].map((name) => join(place, name));
    for (const made of [join(clone, "target/debug"), folder, home]) await mkdir(made, { recursive: true });
    const own = environment();
    await access(own.TAPDESK_SERVICE);
    await symlink(own.TAPDESK_SERVICE, join(clone, "target/debug/tapdesk-service"));
    await symlink(join(root, "service"), join(clone, "service"));
    const text = await guide(clone);
    const [, url] = /(http:\/\/127\.0\.0\.1:\d+)\/kit\/1\/tapdesk\.js/.exec(text);
    const env = {
      ...own,
      // The service in PATH, as the guide has it.
      TAPDESK_SERVICE: "",
      TAPDESK_URL: url,
      HOME: home,
      PLAYWRIGHT_BROWSERS_PATH: join(place, "browsers"),
      npm_config_registry: packages.url,
      npm_config_audit: "false",
      npm_config_update_notifier: "false",
    };
    execFileSync(process.execPath, ["-e", INSTALL_CHROMIUM, chromiumOptions().executablePath], { cwd: MODULES, env });

    const { files, commands } = typed(text);
    assert.equal(commands.length, 4, "blocks of commands");
    for (const [name, content] of files) await writeFile(join(folder, name), content);
    const said = await shell(commands.join(""), folder, env);
    assert.match(said, /\/t\/demo-bottle\?/);
    assert.match(said, /3 passed/);
    const line = JSON.parse(await readFile(join(folder, "dev.json"), "utf8"));
    assert.deepEqual([line.url, line.seed], [url, 7]);
    // The last command ended it.
    await assert.rejects(fetch(line.url));
    assert.ok((await readdir(folder)).includes("tapdesk-playwright-0.1.0.tgz"));
  } finally {
    packages.close();
    await rm(place, { recursive: true, force: true });
  }
});
