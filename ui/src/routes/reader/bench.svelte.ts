// What was laid down last, what is known of it, and what came of its tap. Taps
// are sent one after the other, so that none is missed however fast inlays come.

import { get, post, Problem, publicCall, type Page } from "../../lib/api/client";
import type { Inlay, Interaction, Tag, Verification } from "../../lib/api/types";
import { exercise, type Exercised, type Laid, type ReadChip } from "../../lib/desktop";
import { ownKeys } from "../../lib/keys.svelte";
import { attempt } from "../../lib/notices.svelte";
import type { OwnReads } from "../../lib/ownReads";
import { ownReads, type Insertion } from "../../lib/readers.svelte";
import { mirrorOf } from "../../lib/tapUrl";

/** What the service knows of an inlay and its URL, before its tap is sent. */
export interface Known {
  /** The inlay with the chip's UID; if the chip hides it, the one that made the code. */
  inlay: Inlay | null;
  tag: Tag | null;
  /** The dry run; null if there is no URL of a tap. */
  check: Verification | null;
}

/** A tap that was sent. */
export interface Outcome {
  laid: Laid;
  sent: Exercised;
  /** As the service recorded it, where it is the one that the screens show. */
  interaction: Interaction | null;
  /** What `tag_verified` came to; undefined where nobody says. */
  verified: boolean | null | undefined;
}

/** The chip as the dry run takes it, to tell a copied URL. */
export const chipOf = (laid: Laid): ReadChip => ({
  uid: laid.uid,
  technology: laid.chip,
  makes_codes: laid.codes.kind === "unknown" ? null : laid.codes.kind === "on",
});

/** The dry run of what stands on an inlay, expected at `tagUrl` or at the service's own tag URL. */
async function dryRun(laid: Laid, tagUrl: string | null): Promise<Verification | null> {
  if (!/^https?:/i.test(laid.url ?? "")) return null;
  try {
    return await post<Verification>("/verification", { url: laid.url, chip: chipOf(laid), ...(tagUrl && { tag_url: tagUrl }) });
  } catch (error) {
    // A web address, and none of a tap.
    if (error instanceof Problem && error.status === 422) return null;
    throw error;
  }
}

export async function know(laid: Laid, tagUrl: string | null = null): Promise<Known> {
  const check = await dryRun(laid, tagUrl);
  const uid = laid.uid?.length === 14 ? laid.uid : check?.chip === "not_comparable" ? check.uid : null;
  const inlay = uid ? ((await get<Page<Inlay>>("/inlays", { uid, limit: 1 })).items[0] ?? null) : null;
  const read = laid.random_uid ? check?.uid : laid.uid;
  if (laid.codes.kind === "on" && read && check && check.counter !== null) ownReads.at(read, check.counter);
  const tagId = inlay?.tag_id ?? check?.tag_id ?? null;
  const tag = tagId === null ? null : await get<Tag>(`/tags/${tagId}`).catch(() => null);
  return { inlay, tag, check };
}

/** Whether the counters that are missing before this code were used up by reads made here. */
export function readsBetween(reads: OwnReads, laid: Laid, { inlay, check }: Known): boolean {
  const uid = laid.random_uid ? check?.uid : laid.uid;
  if (!uid || !inlay || !check || check.counter === null) return false;
  return reads.explain(uid, inlay.last_counter, check.counter);
}

export async function send(laid: Laid, to: "service" | "url", automatic: boolean, tagId: number | null): Promise<Outcome> {
  const before = to === "service" && tagId !== null ? await newest(tagId) : null;
  const sent = await exercise(laid.url ?? "", to, automatic ? chipOf(laid) : null);
  const after = to === "service" && tagId !== null ? await newest(tagId) : null;
  const interaction = after && after.id !== before?.id ? after : null;
  if (interaction && sent.rk) ownKeys.remember(interaction.id, sent.rk);
  const paid = sent.payload?.tag_verified as boolean | null | undefined;
  return { laid, sent, interaction, verified: paid !== undefined ? paid : interaction?.tag_verified };
}

const newest = async (tagId: number) =>
  (await get<Page<Interaction>>("/interactions", { tag_id: tagId, limit: 1 })).items[0] ?? null;

class Bench {
  shown = $state.raw<Insertion | null>(null);
  known = $state.raw<Known | null>(null);
  outcome = $state.raw<Outcome | null>(null);
  /** Taps sent from here, the newest first. */
  history = $state.raw<Outcome[]>([]);
  refused = $state<string | null>(null);
  updated = $state<string | null>(null);
  busy = $state(false);
  automatic = $state(false);
  to = $state<"service" | "url">("service");
  #turn: Promise<unknown> = Promise.resolve();

  /** Shows what was laid down; sends its tap where that was asked for. */
  lay(insertion: Insertion): void {
    const automatic = this.automatic;
    this.#next(async () => {
      this.shown = insertion;
      this.known = this.outcome = this.refused = this.updated = null;
      if (insertion.state !== "inlay") return;
      this.known = (await attempt(() => know(insertion))) ?? null;
      if (automatic && insertion.url) await this.#send(insertion, true);
    });
  }

  /** When this code was sent from here: it counts once. Null for a URL without a code. */
  get sentAt(): string | null {
    const laid = this.shown;
    if (laid?.state !== "inlay" || mirrorOf(laid.url) === null) return null;
    return this.history.find((one) => one.laid.url === laid.url)?.sent.at ?? null;
  }

  exercise(): void {
    const laid = this.shown;
    if (laid?.state === "inlay") this.#next(() => this.#send(laid, false));
  }

  /** What is known of the inlay, once more: it was given a tag. */
  refresh(): void {
    const laid = this.shown;
    if (laid?.state === "inlay") this.#next(async () => (this.known = (await attempt(() => know(laid))) ?? null));
  }

  async update(key: string, value: string): Promise<void> {
    const rolling_key = this.outcome?.sent.rk_base64;
    const { status, body } = await publicCall("POST", "/v2/interactions/data", { rolling_key, data: { [key]: value } });
    const message = (body as { message?: string } | null)?.message ?? "";
    this.updated = status === 200 ? `${key} is “${value}” now.` : `${status}: ${message}`;
  }

  async #send(laid: Laid, automatic: boolean): Promise<void> {
    this.refused = null;
    try {
      const outcome = await send(laid, this.to, automatic, this.known?.check?.tag_id ?? null);
      this.outcome = outcome;
      this.history = [outcome, ...this.history].slice(0, 500);
    } catch (error) {
      this.refused = error instanceof Error ? error.message : String(error);
    }
  }

  #next(work: () => Promise<unknown>): void {
    this.busy = true;
    const turn = this.#turn.then(work).catch(() => null);
    this.#turn = turn;
    void turn.then(() => {
      if (this.#turn === turn) this.busy = false;
    });
  }
}

export const bench = new Bench();
