// A run of a sheet, inlay by inlay. Each result is on disk before it is shown or heard. The service
// stores the rows, so a restart continues where the last run ended.

import { wordsOf } from "../../lib/api/problem";
import { atMostEvery } from "../../lib/api/atMostEvery";
import { get, getVersion, patchVersion, post } from "../../lib/api/client";
import { follow } from "../../lib/api/following";
import type { Experience, RowFields, SheetRow, WholeSheet } from "../../lib/api/types";
import { experiences } from "../../lib/stores/names";
import { readers, type Insertion } from "../../lib/reader/readers.svelte";
import { unlessSwitched } from "../../lib/api/connection.svelte";
import { settings } from "../../lib/stores/settings";
import { play } from "../../lib/ui/sound";
import { counterOf } from "../../lib/tap/tapUrl";
import { lookUp, send } from "../../lib/reader/bench.svelte";
import { judgeCopy, judgeLock, judgeReading, judgeRepeat, judgeTag, judgeTap, mustRepeat, toneOf, uidOf, type Verdict } from "./judge";

/** Most rows whose tags' names are loaded, because each name is a request. */
const NAMED = 60;
/** The pause before the sheet is loaded again, in milliseconds: each inlay is a change. */
const PAUSE_MS = 300;

export class Run {
  sheet = $state.raw<WholeSheet | null>(null);
  /** The verdict on the last inlay, until the next one is placed on the reader. */
  last = $state.raw<(Verdict & { row: SheetRow; insertion: number }) | null>(null);
  /** The step that is needed before the run can continue. */
  hint = $state<string | null>(null);
  working = $state(false);
  /** Names of the rows' tags by id, as far as they are loaded. */
  names = $state<Record<number, string>>({});
  #etag: string | null = null;
  /** The experiences' names and the tag URL, for the verdicts. */
  #known: Known = { experiences: [], tagUrl: "" };
  #turn: Promise<unknown> = Promise.resolve();

  constructor(readonly id: number) {}

  async load(): Promise<void> {
    const [listed, { tag_url }] = await Promise.all([experiences.load(), settings.load()]);
    this.#known = { experiences: listed, tagUrl: tag_url.value ?? "" };
    const { value, etag } = await getVersion("/sheets/{id}", { id: this.id });
    this.sheet = value;
    this.#etag = etag;
    void this.#learn(value.rows.slice(-NAMED));
  }

  /** Looks up the names of the rows' tags. A row whose tag is gone shows its number. */
  async #learn(rows: readonly SheetRow[]): Promise<void> {
    const unknown = new Set(rows.flatMap(({ tag_id: id }) => (id === null || this.names[id] !== undefined ? [] : [id])));
    await Promise.all(
      [...unknown].map(async (id) => {
        const tag = await get("/tags/{id}", { id }).catch(() => null);
        if (tag) this.names[id] = tag.name;
      }),
    );
  }

  /** Adds a row, unless the sheet was loaded with it in the meantime. */
  #add(row: SheetRow): void {
    const sheet = this.sheet;
    if (!sheet || sheet.rows.some(({ position }) => position === row.position)) return;
    this.sheet = { ...sheet, rows: [...sheet.rows, row], row_count: row.position };
  }

  get complete(): boolean {
    const planned = this.sheet?.planned ?? null;
    return planned !== null && (this.sheet?.rows.length ?? 0) >= planned;
  }

  test(reading: Insertion): void {
    // The last verdict is about another inlay.
    this.last = null;
    // The inlay may be gone from its reader before its turn, and before its verdict.
    const reader = readers.readerOf(reading.insertion);
    this.#turn = this.#turn.then(unlessSwitched(() => this.#test(reading, reader)));
  }

  /** Follows the rows that other readers and phones add, and the end of the sheet; for `$effect`. */
  follow(): () => void {
    const again = atMostEvery(PAUSE_MS, () => this.load().catch(() => undefined));
    return follow("/sheets", () => ({ id: this.id }), again);
  }

  /**
   * Closes the sheet for good. The service refuses if it has other rows by now than those that are
   * shown.
   */
  async signOff(signer: string): Promise<void> {
    await post("/sheets/{id}/sign-off", { signer, row_count: this.sheet?.rows.length ?? 0 }, { id: this.id });
    this.last = this.hint = null;
    await this.load();
  }

  /**
   * Closes or reopens the sheet. If another person changed it in the meantime, shows its present
   * state instead.
   */
  async close(closed: boolean): Promise<void> {
    try {
      await patchVersion("/sheets/{id}", { closed }, { id: this.id }, this.#etag);
    } finally {
      this.last = this.hint = null;
      await this.load();
    }
  }

  async #test(reading: Insertion, reader: string | null): Promise<void> {
    const sheet = this.sheet;
    if (!sheet || sheet.closed || this.complete) return;
    this.hint = null;
    if (mustRepeat(reading)) {
      this.hint = reading.state === "failed" ? reading.text : null;
      play("again");
      return;
    }
    this.working = true;
    try {
      const [verdict, found] = await judge(reading, sheet, this.#known);
      const fields: RowFields = { ...found, verdict: verdict.name, reason: verdict.reason, reader };
      const row = await post("/sheets/{id}/rows", fields, { id: this.id });
      this.#add(row);
      this.last = { ...verdict, row, insertion: reading.insertion };
      void this.#learn([row]);
      play(toneOf(verdict.name));
    } catch (error) {
      // Nothing was recorded: the same inlay has to be read again.
      const why = wordsOf(error);
      this.hint = `Not recorded. ${why} Place the inlay on the reader again.`;
      play("again");
    } finally {
      this.working = false;
    }
  }
}

interface Known {
  experiences: readonly Experience[];
  tagUrl: string;
}

type Found = Pick<RowFields, "uid" | "tag_id" | "counter">;

/**
 * The verdict, and the data of the row. The tap is sent only if everything else matches the
 * expectations.
 */
async function judge(reading: Insertion, sheet: WholeSheet, { experiences, tagUrl }: Known): Promise<[Verdict, Found]> {
  const chip = uidOf(reading);
  const unreadable = judgeReading(reading);
  if (unreadable || reading.state !== "inlay") {
    return [judgeRepeat(chip, sheet.rows) ?? unreadable ?? { name: "unreadable", reason: "" }, { uid: chip }];
  }
  const { expected, rows } = sheet;
  const known = await lookUp(reading, expected.tag_url);
  const { check } = known;
  const tag_id = check?.tag_id ?? null;
  const counter = check?.counter ?? counterOf(reading.url);
  const copy = judgeCopy(known);
  if (copy) return [copy, { uid: chip, tag_id, counter }];
  const uid = check?.uid ?? chip;
  const found = { uid, tag_id, counter };
  const wrong =
    judgeRepeat(uid, rows) ?? judgeLock(reading, expected) ?? judgeTag(reading, known, expected, expected.tag_url ?? tagUrl, experiences);
  if (wrong || !check) return [wrong ?? { name: "wrong_url", reason: "" }, found];
  const outcome = await send(reading, "service", false, tag_id);
  return [judgeTap(outcome, check, expected), found];
}
