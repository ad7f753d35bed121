// An encoding run, inlay by inlay, on all connected readers. The service stores every row and the
// tag of each chip, so a restart continues where the last run ended.

import { get, getVersion, patchVersion, remove, run } from "../../lib/api/client";
import type { Shown } from "../../lib/api/loadable";
import type { EncodingRunRow, Technology, WholeEncodingRun } from "../../lib/api/types";
import { usualChip } from "../../lib/inlays/technologies";
import { templates } from "../../lib/inlays/templates";
import { uidOf } from "../../lib/inlays/uid";
import type { Result } from "../../lib/reader/ResultRows.svelte";
import { Encoder } from "../../lib/encoding/encoder.svelte";
import { encodingReasons, rowWords, workingWords, type Outcome } from "../../lib/encoding/encodings";
import { firstPassOf } from "./firstPass";
import { count as digits } from "../../lib/format/format";
import { readers, type Insertion } from "../../lib/reader/readers.svelte";
import { play, type Tone } from "../../lib/ui/sound";

export class Run implements Shown<WholeEncodingRun> {
  run = $state.raw<WholeEncodingRun | null>(null);
  /** The reason why the last load failed; `null` if it succeeded. */
  failure = $state.raw<unknown>(null);
  /** The readers that were used, with the encoding on each. */
  places = $state<Record<string, Encoder>>({});
  paused = $state(false);
  /** Whether the next insertion of this chip is wiped. */
  undoing = $state<EncodingRunRow | null>(null);
  /** The times at which inlays of this session were finished. */
  #done = $state<number[]>([]);
  #tried = $state<Record<string, number>>({});
  #etag: string | null = null;

  constructor(readonly id: number) {}

  get now(): WholeEncodingRun | null {
    return this.run;
  }

  async load(): Promise<void> {
    this.failure = null;
    try {
      const { value, etag } = await getVersion("/encoding-runs/{id}", { id: this.id });
      this.run = value;
      this.#etag = etag;
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }

  get rows(): EncodingRunRow[] {
    return this.run?.rows ?? [];
  }

  get done(): EncodingRunRow[] {
    return this.rows.filter((row) => row.state === "verified");
  }

  get open(): EncodingRunRow[] {
    return this.rows.filter((row) => !["verified", "rejected", "abandoned", "reset"].includes(row.state));
  }

  get rejected(): EncodingRunRow[] {
    return this.rows.filter((row) => row.state === "rejected" || row.state === "abandoned");
  }

  get complete(): boolean {
    const planned = this.run?.planned ?? null;
    return planned !== null && this.done.length >= planned;
  }

  /** Whether its inlays contain the service's own address, not that of a URL template. */
  get carriesOwn(): boolean {
    return this.run?.plan.url_template_id === null;
  }

  /** Inlays per hour, over the last ten of this session. */
  get rate(): number | null {
    const last = this.#done.slice(-10);
    const hours = ((last.at(-1) ?? 0) - (last[0] ?? 0)) / 3_600_000;
    return last.length > 1 && hours > 0 ? Math.round((last.length - 1) / hours) : null;
  }

  /** The share of this session's finished chips that were encoded the first time they were placed. */
  get firstPass(): number | null {
    return firstPassOf(this.done, this.rejected, this.#tried);
  }

  /** The text about a reader, with the next step. */
  todo(place: Encoder | null): string {
    if (place?.working) return workingWords(place.progress);
    if (this.run?.closed) return "The run is closed.";
    if (this.undoing) return `Place ${this.undoing.uid} on the reader to wipe it. Press Escape to keep it.`;
    if (this.paused) return "Paused. Press P to resume.";
    if (this.complete) return `All ${digits(this.done.length)} encoded.`;
    const of = this.run?.planned ? ` of ${digits(this.run.planned)}` : "";
    return `Place inlay ${digits(this.done.length + 1)}${of} on the reader.`;
  }

  async insert(insertion: Insertion): Promise<void> {
    const reader = readers.readerOf(insertion.insertion);
    if (!this.run || this.run.closed || this.paused || reader === null) return;
    const place = (this.places[reader] ??= new Encoder());
    const uid = insertion.uid;
    if (this.undoing) return this.#wipe(place, insertion);
    if (this.complete) return;
    const before = this.done.find((row) => row.uid === uid);
    if (before) {
      show(place, insertion.insertion, "warn", "Duplicate", `Already encoded as inlay ${before.position} of this run.`);
      return;
    }
    if (uid && (await this.#ofOther(uid))) {
      show(place, insertion.insertion, "warn", encodingReasons.in_other_run.title, encodingReasons.in_other_run.text);
      return;
    }
    if (uid) this.#tried[uid] = (this.#tried[uid] ?? 0) + 1;
    const outcome = await place.encode(insertion.insertion, { run_id: this.id }, this.#wanted, this.carriesOwn);
    if (outcome.progress?.state === "verified") this.#done = [...this.#done, Date.now()];
    await this.load();
  }

  /** The chip that the run needs, if it is known here. */
  get #wanted(): Technology | null {
    const { url_template_id: template = null, technology } = this.run?.plan ?? {};
    return template === null ? (technology ?? usualChip) : (templates.find(template)?.technology ?? null);
  }

  /** Whether the chip is half way or finished in another run. */
  async #ofOther(uid: string): Promise<boolean> {
    if (uidOf(uid) === null) return false;
    const last = (await get("/encodings", { uid, limit: 1 })).items[0];
    return (
      last !== undefined && last.run_id !== null && last.run_id !== this.id && !["rejected", "abandoned", "reset"].includes(last.state)
    );
  }

  /** The inlay that was finished last. */
  get last(): EncodingRunRow | null {
    return [...this.done].sort((a, b) => a.at.localeCompare(b.at)).at(-1) ?? null;
  }

  /** Wipes an inlay: at once if it is still on the reader, otherwise when it is placed again. */
  undo(row: EncodingRunRow): void {
    this.undoing = row;
    const place = Object.values(this.places).find(
      (one) => one.outcome?.progress?.state === "verified" && one.insertion !== null && readers.has(one.insertion),
    );
    const lies = readers.newest;
    if (place && lies && lies.insertion === place.insertion && lies.uid === row.uid) void this.#wipe(place, lies);
  }

  async #wipe(place: Encoder, insertion: Insertion): Promise<void> {
    if (insertion.uid !== this.undoing?.uid) {
      show(place, insertion.insertion, "warn", "Another inlay", `This is ${insertion.uid ?? "an unknown chip"}. Nothing was changed.`);
      return;
    }
    const outcome = await place.encode(insertion.insertion, { wipe: true, run_id: this.id });
    if (outcome.tone !== "again") this.undoing = null;
    await this.load();
  }

  /** Rejects an unfinished inlay, so that its tag is free for another one. */
  async reject(row: EncodingRunRow): Promise<void> {
    await remove("/encodings/{id}", { id: row.encoding_id });
    await this.load();
    const place = Object.values(this.places)[0];
    if (place) show(place, null, "bad", "Rejected", `${row.uid} is no longer part of this run. Its tag is free for another inlay.`);
  }

  /** Skips the next inlay's tag, which then comes last. */
  async skip(): Promise<void> {
    if (!this.run || this.run.closed || this.run.next === null) return;
    const { name } = this.run.next;
    await run("/encoding-runs/{id}/skip", { id: this.id });
    await this.load();
    const place = Object.values(this.places)[0];
    if (place) show(place, null, "warn", "Skipped", `${name} comes last.`);
  }

  async close(closed: boolean): Promise<void> {
    try {
      await patchVersion("/encoding-runs/{id}", { closed }, { id: this.id }, this.#etag);
    } finally {
      await this.load();
    }
  }
}

function show(place: Encoder, insertion: number | null, tone: Tone, title: string, text: string): void {
  place.insertion = insertion;
  place.outcome = { tone, title, text, progress: null } satisfies Outcome;
  play(tone);
}

/** The rows of a run for its table, newest first. */
export const resultsOf = (rows: readonly EncodingRunRow[]): Result[] =>
  [...rows]
    .sort((a, b) => b.at.localeCompare(a.at))
    .map((row) => {
      const { tone, title, text } = rowWords(row);
      const tag = row.tag_id === null ? null : { id: row.tag_id, name: row.name ?? row.slug ?? "" };
      return { key: row.encoding_id, number: row.position, tone, title, uid: row.uid, tag, counter: row.counter, reason: text, at: row.at };
    });
