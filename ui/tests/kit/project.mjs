// A developer's project in a folder of its own, with the packages that a registry would bring.

import { execFile, execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const PACKAGE = here("../../../service/kit/playwright");
/** The packages that are installed here. */
export const MODULES = here("../../node_modules");
/** What `npm install @playwright/test` installs. */
export const PLAYWRIGHT = ["@playwright/test", "playwright", "playwright-core"];

/** Installs Playwright, as it is installed here, and a packed package. */
async function install(folder, packed) {
  for (const name of PLAYWRIGHT) {
    const link = join(folder, "node_modules", name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(await realpath(join(MODULES, name)), link);
  }
  const installed = join(folder, "node_modules/tapdesk-playwright");
  await mkdir(installed, { recursive: true });
  execFileSync("tar", ["-xzf", packed, "-C", installed, "--strip-components=1"], { cwd: folder });
}

/** The variables of the program under test. This run is one of npm and Playwright, too, which it must not take for its own. */
export function environment(more = {}) {
  const own = Object.entries(process.env).filter(([name]) => !/^(npm_|PLAYWRIGHT|TEST_|PW)/.test(name));
  const service = process.env.TAPDESK_SERVICE ?? here("../../../target/debug/tapdesk-service");
  return { ...Object.fromEntries(own), TAPDESK_SERVICE: service, ...more };
}

/** A project with these files and the package of fixtures. */
export async function inProject(files, work) {
  const folder = await mkdtemp(join(tmpdir(), "tapdesk-project-"));
  const run = async (command, ...args) => {
    // A failure says what the program said.
    const ran = promisify(execFile)(command, args, { cwd: folder, env: environment(), maxBuffer: 1 << 24 });
    return (await ran.catch((error) => Promise.reject(new Error(`${error.message}\n${error.stdout}`)))).stdout;
  };
  try {
    const [{ filename, files: packed }] = JSON.parse(await run("npm", "pack", "--json", "--offline", PACKAGE));
    const names = packed.map(({ path }) => path).sort();
    const wanted = ["fixtures.d.mts", "fixtures.mjs", "package.json", "service.d.mts", "service.mjs"];
    if (names.join() !== wanted.join()) throw new Error(`the package contains ${names}`);
    await install(folder, filename);
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const playwright = (...args) => run(process.execPath, join(folder, "node_modules/@playwright/test/cli.js"), ...args);
    return await work({ folder, run, playwright });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
