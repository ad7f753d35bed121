// The last inlay on the reader, the service's data about it, and the result of its tap. Taps are
// sent one after the other, so that none is missed.

import { wordsOf } from "../api/problem";
import { get, mayWrite, post, Problem, publicCall } from "../api/client";
import type { Inlay, Interaction, Tag, Verification } from "../api/types";
import { uidOfChip } from "../inlays/uid";
import { sendTap, type Reading, type ReadChip, type SentTap } from "../shell/desktop";
import { ownTaps, timesOf } from "../tap/ownTaps";
import { attempt } from "../window/notices.svelte";
import type { Insertion } from "./readers.svelte";
import { perConnection, switchedSince, unlessSwitched } from "../api/connection.svelte";
import { mirrorOf } from "../tap/tapUrl";

/** The service's data about an inlay and its URL, before its tap is sent. */
export interface Known {
  /**
   * The inlay with the chip's UID, or the one that generated the code if the chip hides its UID.
   */
  inlay: Inlay | null;
  tag: Tag | null;
  /** The dry run; null if there is no URL of a tap. */
  check: Verification | null;
}

/** A tap that was sent. */
export interface Outcome {
  reading: Reading;
  sent: SentTap;
  /** The record of the tap; null if another service than the one on the screens received it. */
  interaction: Interaction | null;
  /** `tag_verified`; undefined if it is not in the response. */
  verified: boolean | null | undefined;
}

/** The chip for the dry run, which detects a copied URL with it. */
export const chipOf = (reading: Reading): ReadChip => ({
  uid: reading.uid,
  technology: reading.chip,
  makes_codes: reading.codes.kind === "unknown" ? null : reading.codes.kind === "on",
});

/** The dry run of an inlay's URL, expected at `tagUrl` or at the service's own tag URL. */
async function dryRun(reading: Reading, tagUrl: string | null): Promise<Verification | null> {
  if (!/^https?:/i.test(reading.url ?? "")) return null;
  try {
    return await post("/verification", { url: reading.url ?? "", chip: chipOf(reading), ...(tagUrl && { tag_url: tagUrl }) });
  } catch (error) {
    // The URL is a web address, but not a tag URL.
    if (error instanceof Problem && error.errors.some(({ field }) => field === "url")) return null;
    throw error;
  }
}

export async function lookUp(reading: Reading, tagUrl: string | null = null): Promise<Known> {
  const check = await dryRun(reading, tagUrl);
  const uid = uidOfChip(reading) ?? (check?.chip === "not_comparable" ? check.uid : null);
  const inlay = uid ? ((await get("/inlays", { uid, limit: 1 })).items[0] ?? null) : null;
  const tagId = inlay?.tag_id ?? check?.tag_id ?? null;
  const tag = tagId === null ? null : await get("/tags/{id}", { id: tagId }).catch(() => null);
  return { inlay, tag, check };
}

export async function send(reading: Reading, to: "service" | "url", automatic: boolean, tagId: number | null): Promise<Outcome> {
  const switched = switchedSince();
  if (to === "service" && !(await mayWrite())) throw new Problem(0, "Nothing was changed.");
  const before = to === "service" && tagId !== null ? await newest(tagId) : null;
  const sent = await sendTap(reading.url ?? "", to, automatic ? chipOf(reading) : null);
  const after = to === "service" && !switched() && tagId !== null ? await newest(tagId) : null;
  const interaction = after && after.id !== before?.id ? after : null;
  if (interaction && !switched()) {
    const { location, rk } = sent;
    ownTaps.remember(interaction.id, { url: reading.url ?? "", location, rk, took: timesOf(sent) });
  }
  const verified = sent.payload?.tag_verified as boolean | null | undefined;
  return { reading, sent, interaction, verified: verified !== undefined ? verified : interaction?.tag_verified };
}

const newest = async (tagId: number) => (await get("/interactions", { tag_id: tagId, limit: 1 })).items[0] ?? null;

class Bench {
  shown = $state.raw<Insertion | null>(null);
  known = $state.raw<Known | null>(null);
  outcome = $state.raw<Outcome | null>(null);
  /** Taps sent from this screen, newest first. */
  history = $state.raw<Outcome[]>([]);
  problem = $state<string | null>(null);
  updated = $state<string | null>(null);
  busy = $state(false);
  automatic = $state(false);
  to = $state<"service" | "url">("service");
  #turn: Promise<unknown> = Promise.resolve();

  /** Shows an insertion; sends its tap in automatic mode. */
  show(insertion: Insertion): void {
    const automatic = this.automatic;
    this.#next(async () => {
      this.shown = insertion;
      this.known = this.outcome = this.problem = this.updated = null;
      if (insertion.state !== "inlay") return;
      const tap = unlessSwitched(() => this.#send(insertion, true));
      this.known = (await attempt(() => lookUp(insertion))) ?? null;
      if (automatic && insertion.url) await tap();
    });
  }

  /**
   * The time when the shown code was sent: a code is valid once. Null if it was not sent, or there
   * is no code.
   */
  get sentAt(): string | null {
    const reading = this.shown;
    if (reading?.state !== "inlay" || mirrorOf(reading.url) === null) return null;
    return this.history.find((one) => one.reading.url === reading.url)?.sent.at ?? null;
  }

  sendTap(): void {
    const reading = this.shown;
    if (reading?.state === "inlay") this.#next(() => this.#send(reading, false));
  }

  /** Loads the inlay again, after it was assigned. */
  refresh(): void {
    const reading = this.shown;
    if (reading?.state === "inlay") this.#next(async () => (this.known = (await attempt(() => lookUp(reading))) ?? null));
  }

  async update(key: string, value: string): Promise<void> {
    const rolling_key = this.outcome?.sent.rk_base64;
    const { status, body, ms } = await publicCall("POST", "/v2/interactions/data", { rolling_key, data: { [key]: value } });
    ownTaps.took(this.outcome?.interaction?.id ?? null, { update: ms });
    const message = (body as { message?: string } | null)?.message ?? "";
    this.updated = status === 200 ? `${key} is now “${value}”.` : `${status}: ${message}`;
  }

  async #send(reading: Reading, automatic: boolean): Promise<void> {
    this.problem = null;
    try {
      const outcome = await send(reading, this.to, automatic, this.known?.check?.tag_id ?? null);
      this.outcome = outcome;
      this.history = [outcome, ...this.history].slice(0, 500);
    } catch (error) {
      this.problem = wordsOf(error);
    }
  }

  #next(work: () => Promise<unknown>): void {
    this.busy = true;
    const turn = this.#turn.then(unlessSwitched(work)).catch(() => null);
    this.#turn = turn;
    void turn.then(() => {
      if (this.#turn === turn) this.busy = false;
    });
  }
}

export const bench = perConnection(() => new Bench());
