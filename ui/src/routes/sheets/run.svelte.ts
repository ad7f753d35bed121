// A sheet as it is worked through: inlay after inlay, each result on disk before
// it is shown or heard. What was done before stands in the service, so a new
// start goes on where the last one ended.

import { get, patch, post } from "../../lib/api/client";
import type { RowFields, SheetRow, WholeSheet } from "../../lib/api/types";
import { experiences } from "../../lib/names.svelte";
import { ownReads, type Insertion } from "../../lib/readers.svelte";
import { settings } from "../../lib/settings.svelte";
import { play } from "../../lib/sound";
import { counterOf } from "../../lib/tapUrl";
import { know, readsBetween, send } from "../reader/bench.svelte";
import { judgeCopy, judgeLock, judgeReading, judgeRepeat, judgeTag, judgeTap, mustRepeat, toneOf, uidOf, type Verdict } from "./judge";

export class Run {
  sheet = $state.raw<WholeSheet | null>(null);
  /** The verdict on the last inlay, until the next one is laid down. */
  last = $state.raw<(Verdict & { row: SheetRow; insertion: number }) | null>(null);
  /** What to do before it goes on. */
  hint = $state<string | null>(null);
  working = $state(false);
  #turn: Promise<unknown> = Promise.resolve();

  constructor(readonly id: string) {}

  async load(): Promise<void> {
    await Promise.all([experiences.load(), settings.load()]);
    this.sheet = await get<WholeSheet>(`/sheets/${this.id}`);
  }

  get complete(): boolean {
    const planned = this.sheet?.planned ?? null;
    return planned !== null && (this.sheet?.rows.length ?? 0) >= planned;
  }

  lay(laid: Insertion): void {
    // Whatever was said, it was said of another inlay.
    this.last = null;
    this.#turn = this.#turn.then(() => this.#test(laid));
  }

  async close(closed: boolean): Promise<void> {
    await patch(`/sheets/${this.id}`, { closed });
    this.last = this.hint = null;
    await this.load();
  }

  async #test(laid: Insertion): Promise<void> {
    const sheet = this.sheet;
    if (!sheet || sheet.closed || this.complete) return;
    this.hint = null;
    if (mustRepeat(laid)) {
      this.hint = laid.state === "failed" ? laid.text : null;
      play("again");
      return;
    }
    this.working = true;
    try {
      const [verdict, found] = await judge(laid, sheet);
      const fields: RowFields = { ...found, verdict: verdict.name, reason: verdict.reason };
      const row = await post<SheetRow>(`/sheets/${this.id}/rows`, fields);
      this.sheet = { ...sheet, rows: [...sheet.rows, row], row_count: row.position };
      this.last = { ...verdict, row, insertion: laid.insertion };
      play(toneOf(verdict.name));
    } catch (error) {
      // Nothing was recorded: the same inlay is laid down again.
      const why = error instanceof Error ? error.message : String(error);
      this.hint = `Not recorded. ${why} Lay the inlay down again.`;
      play("again");
    } finally {
      this.working = false;
    }
  }
}

type Found = Pick<RowFields, "uid" | "tag_id" | "counter">;

/** The verdict, and what is known of the inlay. Its tap is sent only if all else is as it should be. */
async function judge(laid: Insertion, sheet: WholeSheet): Promise<[Verdict, Found]> {
  const chip = uidOf(laid);
  const mute = judgeReading(laid);
  if (mute || laid.state !== "inlay") {
    return [judgeRepeat(chip, sheet.rows) ?? mute ?? { name: "unreadable", reason: "" }, { uid: chip }];
  }
  const { expected, rows } = sheet;
  const known = await know(laid, expected.tag_url);
  const { check } = known;
  const tag_id = check?.tag_id ?? null;
  const counter = check?.counter ?? counterOf(laid.url);
  const copy = judgeCopy(known);
  if (copy) return [copy, { uid: chip, tag_id, counter }];
  const uid = check?.uid ?? chip;
  const found = { uid, tag_id, counter };
  const tagUrl = expected.tag_url ?? settings.tagUrl ?? "";
  const wrong = judgeRepeat(uid, rows) ?? judgeLock(laid, expected) ?? judgeTag(laid, known, expected, tagUrl, experiences.all);
  if (wrong || !check) return [wrong ?? { name: "wrong_url", reason: "" }, found];
  const isOwn = readsBetween(ownReads, laid, known);
  const outcome = await send(laid, "service", false, tag_id);
  return [judgeTap(outcome, check, expected, isOwn), found];
}
