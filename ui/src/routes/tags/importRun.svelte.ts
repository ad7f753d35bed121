// An import from a file, step by step: choose it, map its columns, check the rows, import them.

import { timeLeft } from "../../lib/format";
import { attempt } from "../../lib/notices.svelte";
import { parseFile, type Table } from "./csv";
import { importTable, type Options, type Summary } from "./import";

export class ImportRun {
  file = $state("");
  table = $state.raw<Table | null>(null);
  mapping = $state<string[]>([]);
  options = $state<Omit<Options, "dry_run">>({ on_error: "skip", mode: "insert", unknown_experience: "refuse" });
  result = $state.raw<Summary | null>(null);
  /** Number of rows that are imported. */
  imported = $state(0);
  step = $state<"choose" | "checking" | "checked" | "importing" | "done">("choose");
  #cancelled = false;
  #began = 0;

  /** How much longer it takes, in words. */
  readonly left = $derived(timeLeft(this.#began, this.imported, this.table?.rows.length ?? 0));

  get busy(): boolean {
    return this.step === "checking" || this.step === "importing";
  }

  async choose(file: File, mapping: (table: Table) => string[]): Promise<void> {
    this.file = file.name;
    this.table = await parseFile(file);
    this.mapping = mapping(this.table);
    this.edited();
  }

  /** Discards the result: it is of another file or mapping. */
  edited(): void {
    this.result = null;
    this.step = "choose";
  }

  clear(): void {
    this.table = null;
    this.edited();
  }

  stop(): void {
    this.#cancelled = true;
  }

  /** Checks or imports the rows, as `completed` sends them. */
  async start(dry_run: boolean, completed = (table: Table, mapping: string[]) => ({ table, mapping })): Promise<Summary | null> {
    if (!this.table) return null;
    const { table, mapping } = completed(this.table, $state.snapshot(this.mapping));
    this.step = dry_run ? "checking" : "importing";
    this.#cancelled = false;
    this.imported = 0;
    this.#began = Date.now();
    this.result = null;
    const sum = await attempt(() =>
      importTable(
        table,
        mapping,
        { dry_run, ...this.options },
        (done) => (this.imported = done.rows),
        () => this.#cancelled,
      ),
    );
    this.step = sum ? (dry_run ? "checked" : "done") : "choose";
    this.result = sum ?? null;
    return this.result;
  }
}
