// A server of an example, as a process of its own.

import { spawn } from "node:child_process";
import { expect } from "@playwright/test";
import { PATIENCE } from "../../screens/browser.mjs";

const answers = (url) =>
  fetch(url, { redirect: "manual" }).then(
    () => true,
    () => false,
  );

/** Starts a program and waits until `url` answers; `said` is its output. */
export async function start(program, args, { url, cwd, env }) {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const running = {
    said: "",
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((exited) => child.once("exit", exited));
      // Its workers have its group.
      process.kill(-child.pid, "SIGTERM");
      await ended;
    },
  };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (running.said += text));
  const failed = new Promise((_, reject) => {
    child.once("error", (error) => reject(new Error(`${program}: ${error.message}; see .make/setup`)));
    child.once("exit", (code) => reject(new Error(`${program} ended with ${code}: ${running.said}`)));
  });
  failed.catch(() => undefined);
  const listens = expect.poll(() => answers(url), { timeout: PATIENCE }).toBe(true);
  try {
    await Promise.race([listens, failed]);
  } catch (error) {
    await running.stop();
    throw error;
  }
  return running;
}
