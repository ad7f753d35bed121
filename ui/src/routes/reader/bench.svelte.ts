// What was laid down last, what is known of it, and what came of its tap. Taps
// are sent one after the other, so that none is missed however fast inlays come.

import { get, post, publicCall, type Page } from "../../lib/api/client";
import type { Inlay, Interaction, Tag, Verification } from "../../lib/api/types";
import { exercise, type Exercised, type Laid } from "../../lib/desktop";
import { ownKeys } from "../../lib/keys.svelte";
import { attempt } from "../../lib/notices.svelte";
import type { Insertion } from "../../lib/readers.svelte";

/** What the service knows of an inlay and its URL, before its tap is sent. */
export interface Known {
  inlay: Inlay | null;
  tag: Tag | null;
  /** The dry run; null where the URL is none, or there is none. */
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

export async function know(laid: Laid): Promise<Known> {
  const found = laid.uid?.length === 14 ? (await get<Page<Inlay>>("/inlays", { uid: laid.uid, limit: 1 })).items : [];
  const inlay = found[0] ?? null;
  const check = laid.url?.startsWith("http") ? await post<Verification>("/verification", { url: laid.url }) : null;
  const tagId = inlay?.tag_id ?? check?.tag_id ?? null;
  const tag = tagId === null ? null : await get<Tag>(`/tags/${tagId}`).catch(() => null);
  return { inlay, tag, check };
}

export async function send(laid: Laid, to: "service" | "url", automatic: boolean, tagId: number | null): Promise<Outcome> {
  const before = to === "service" && tagId !== null ? await newest(tagId) : null;
  const sent = await exercise(laid.url ?? "", to, automatic);
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
