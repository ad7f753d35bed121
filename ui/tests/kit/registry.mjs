// A registry of npm packages on this machine: those that are installed here, so that `npm install` downloads nothing.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

/** Serves packages of the folder `modules` by name. */
export async function registry(modules, names) {
  const tarballs = new Map();
  const documents = new Map();
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url.slice(1));
    const body = tarballs.get(path) ?? documents.get(path)?.();
    response.writeHead(body ? 200 : 404).end(body ?? "{}");
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${server.address().port}`;
  for (const name of names) {
    const folder = await realpath(join(modules, name));
    const about = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    // Its compression takes longer than all else, and serves nobody here.
    const tar = execFileSync("tar", ["--transform", "s,^[.],package,", "-cf", "-", "."], { cwd: folder, maxBuffer: 1 << 28 });
    const tarball = gzipSync(tar, { level: 1 });
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    const version = { ...about, dist: { tarball: `${url}/${name}.tgz`, integrity } };
    tarballs.set(`${name}.tgz`, tarball);
    const document = { name, "dist-tags": { latest: about.version }, versions: { [about.version]: version } };
    documents.set(name, () => JSON.stringify(document));
  }
  return {
    url,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Puts the system's Chromium where `npx playwright install chromium` would install one, which then downloads nothing. */
export const INSTALL_CHROMIUM = `
  const { mkdirSync, symlinkSync, writeFileSync } = require("node:fs");
  const { dirname, join } = require("node:path");
  const { registry } = require("playwright-core/lib/coreBundle").registry;
  for (const name of ["chromium", "chromium-headless-shell", "ffmpeg"]) {
    const found = registry.findExecutable(name);
    const executable = found.executablePath("javascript");
    mkdirSync(dirname(executable), { recursive: true });
    symlinkSync(process.argv[1], executable);
    writeFileSync(join(found.directory, "INSTALLATION_COMPLETE"), "");
  }
`;
