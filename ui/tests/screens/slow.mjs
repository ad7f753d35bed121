// A slow machine, on purpose: a story that depends on the speed of something fails on it. `TAPDESK_SLOW` names the slow
// parts, such as `answers=0-500,events=2000`; service/docs/explanation/testing.md has all of them.

const parts = Object.fromEntries((process.env.TAPDESK_SLOW ?? "").split(",").map((part) => part.split("=")));

/** Waits as long as a part is slow, in milliseconds: of two times, each wait is another one between them. */
export async function slowly(part) {
  if (!parts[part]) return;
  const [least, most = least] = parts[part].split("-").map(Number);
  await new Promise((done) => setTimeout(done, least + Math.random() * (most - least)));
}

/** Playwright's pause after each operation, in milliseconds. */
export const slowMo = Number(parts.steps ?? 0);

/** Slows the processor of a page. */
export async function slowProcessor(page) {
  if (!parts.processor) return;
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: Number(parts.processor) });
}

/** A client of the API that waits after each call: the page hears of a change before the story goes on. */
export const slowClient = (api) => {
  const slow =
    (call) =>
    (...given) =>
      call(...given).finally(() => slowly("api"));
  return Object.fromEntries(Object.entries(api).map(([name, call]) => [name, slow(call)]));
};
