// An import from a file, step by step: choose it, map its columns, check the rows, import them.
// It is long work: it goes on while other screens are shown.

import { timeLeft } from "../../lib/ui/format";
import { attempt } from "../../lib/frame/notices.svelte";
import { works, type Work } from "../../lib/frame/works.svelte";
import { parseFile, type Table } from "./csv";
import { importTable, type Options, type Summary } from "./import";

interface Sent {
  table: Table;
  mapping: string[];
}

export class ImportRun {
  file = $state("");
  table = $state.raw<Table | null>(null);
  mapping = $state<string[]>([]);
  options = $state<Omit<Options, "dry_run">>({ on_error: "skip", mode: "insert", unknown_experience: "refuse" });
  result = $state.raw<Summary | null>(null);
  step = $state<"choose" | "checking" | "checked" | "importing" | "done">("choose");
  #work = $state.raw<Work | null>(null);
  /** What the import under way, or the last one, sends. */
  #sent: Sent | null = null;

  /** Number of rows that are imported. */
  get imported(): number {
    return this.#work?.done ?? 0;
  }

  /** How much longer it takes, in words. */
  get left(): string {
    return this.#work ? timeLeft(this.#work.begun, this.#work.done, this.#work.total ?? 0) : "";
  }

  get busy(): boolean {
    return this.step === "checking" || this.step === "importing";
  }

  /** Whether rows are left that an import did not come to. */
  get unfinished(): boolean {
    return this.step === "done" && this.result !== null && this.result.next !== null;
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
    this.#work?.stop();
  }

  /** Checks or imports the rows, as `completed` sends them. */
  async start(dry_run: boolean, completed = (table: Table, mapping: string[]): Sent => ({ table, mapping })): Promise<Summary | null> {
    if (!this.table) return null;
    this.#sent = completed(this.table, $state.snapshot(this.mapping));
    return this.#send(dry_run, null);
  }

  /** Imports the rows that an import did not come to. */
  async resume(): Promise<Summary | null> {
    return this.unfinished ? this.#send(false, this.result) : null;
  }

  async #send(dry_run: boolean, before: Summary | null): Promise<Summary | null> {
    const { table, mapping } = this.#sent!;
    this.step = dry_run ? "checking" : "importing";
    this.result = null;
    const options = { dry_run, ...$state.snapshot(this.options) };
    const send = (work: Work | null) => {
      this.#work = work;
      const told = ({ rows }: Summary) => work && (work.done = rows - (before?.rows ?? 0));
      return importTable(table, mapping, options, told, () => work?.stopping ?? false, before);
    };
    const rows = table.rows.length - (before?.next ?? 0);
    const sum = await attempt(() => (dry_run ? send(null) : works.run(`Importing ${this.file}`, rows, send)));
    this.#work = null;
    // A rest that failed at once leaves what is imported as it was shown.
    this.result = sum ?? before;
    this.step = this.result ? (dry_run ? "checked" : "done") : "choose";
    return sum ?? null;
  }
}
