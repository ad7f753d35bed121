// A sheet as it is worked through: inlay after inlay, each result on disk before
// it is shown or heard. What was done before stands in the service, so a new
// start goes on where the last one ended.

import { get, patch, post } from "../../lib/api/client";
import type { RowFields, SheetRow, WholeSheet } from "../../lib/api/types";
import { experiences } from "../../lib/names.svelte";
import type { Insertion } from "../../lib/readers.svelte";
import { know, send } from "../reader/bench.svelte";
import { partsOf } from "../reader/url";
import { judgeReading, judgeTag, judgeTap, mustRepeat, type Verdict } from "./judge";
import { play } from "../../lib/sound";

export class Run {
  sheet = $state.raw<WholeSheet | null>(null);
  /** The verdict on the last inlay. */
  last = $state.raw<(Verdict & { row: SheetRow }) | null>(null);
  /** What to do before it goes on. */
  hint = $state<string | null>(null);
  working = $state(false);
  #turn: Promise<unknown> = Promise.resolve();

  constructor(readonly id: string) {}

  async load(): Promise<void> {
    await experiences.load();
    this.sheet = await get<WholeSheet>(`/sheets/${this.id}`);
  }

  get complete(): boolean {
    const planned = this.sheet?.planned ?? null;
    return planned !== null && (this.sheet?.rows.length ?? 0) >= planned;
  }

  lay(laid: Insertion): void {
    this.#turn = this.#turn.then(() => this.#test(laid));
  }

  async close(closed: boolean): Promise<void> {
    await patch(`/sheets/${this.id}`, { closed });
    await this.load();
  }

  async #test(laid: Insertion): Promise<void> {
    const sheet = this.sheet;
    if (!sheet || sheet.closed || this.complete) return;
    this.hint = null;
    if (mustRepeat(laid)) {
      this.hint = laid.state === "failed" ? laid.text : null;
      play(false);
      return;
    }
    this.working = true;
    try {
      const [verdict, found] = await judge(laid, sheet);
      const fields: RowFields = { ...found, verdict: verdict.name, reason: verdict.reason };
      const row = await post<SheetRow>(`/sheets/${this.id}/rows`, fields);
      this.sheet = { ...sheet, rows: [...sheet.rows, row], row_count: row.position };
      this.last = { ...verdict, row };
      play(verdict.name === "ok");
    } catch (error) {
      // Nothing was recorded: the same inlay is laid down again.
      const why = error instanceof Error ? error.message : String(error);
      this.hint = `Not recorded. ${why} Lay the inlay down again.`;
      play(false);
    } finally {
      this.working = false;
    }
  }
}

type Found = Pick<RowFields, "uid" | "tag_id" | "counter">;

/** The verdict, and what is known of the inlay. Its tap is sent only where all else is as it should be. */
async function judge(laid: Insertion, sheet: WholeSheet): Promise<[Verdict, Found]> {
  const uid = laid.state === "inlay" && [8, 14, 20].includes(laid.uid?.length ?? 0) ? laid.uid : null;
  const early = judgeReading(laid, sheet.expected, sheet.rows);
  if (early || laid.state !== "inlay") return [early ?? { name: "unreadable", reason: "" }, { uid }];
  const known = await know(laid);
  const plain = partsOf(laid.url ?? "").find((part) => part.name === "Counter");
  const counter = known.check?.counter ?? (plain ? Number(plain.text) : null);
  const found = { uid, tag_id: known.check?.tag_id ?? null, counter };
  const misled = judgeTag(known, sheet.expected, experiences.all);
  if (misled || !known.check) return [misled ?? { name: "wrong_tag", reason: "" }, found];
  const outcome = await send(laid, "service", false, found.tag_id);
  return [judgeTap(outcome, known.check, sheet.expected), found];
}
