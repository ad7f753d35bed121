// An import from a file, step by step: choose it, map its columns, check the rows, import them. It
// is long work, and continues while other screens are shown.

import { upload } from "../api/client";
import { Problem } from "../api/problem";
import type { ImportTable, TagImportRow } from "../api/types";
import { timeLeft } from "../format/format";
import { Draft } from "../ui/draft.svelte";
import { present } from "../format/now.svelte";
import { switchedSince } from "../api/connection.svelte";
import { attempt, notices, type Change } from "../window/notices.svelte";
import { works, type Work } from "../window/works.svelte";
import { meaningsOf } from "./headings";
import { FILE_TYPE, importTable, type Common, type Options, type Source, type Summary } from "./import";
import { digestOf, forgetImport, importOf, remember, type ImportedFile } from "./importedFiles";
import { isSameTable, knownFor, mappingBy, rememberColumns, type KnownColumns } from "./knownColumns";
import { undoImport, undoWords } from "./undoImport";

/** Most rows that the service returns at a time. */
const SHOWN_MAX = 1_000;

/** Values that a file may lack, for all of its rows. */
const unsaid = { counter: "", technology: "", url_template_id: null, allow_factory_keys: false } as const;

/** The service's questions about a file, by the parameters of their answers. */
export type Questions = Partial<Record<"counter" | "technology", string>>;
const isQuestion = ({ field }: { field: string }) => field === "counter" || field === "technology";

/** Whether a row was refused because it has a UID, and nothing says its chip. */
const lacksChip = (row: TagImportRow) => row.outcome === "refused" && row.reason.startsWith("technology is missing");

export class ImportRun {
  file = $state("");
  /** The file as the service parsed it. */
  table = $state.raw<ImportTable | null>(null);
  mapping = $state<string[]>([]);
  /** Earlier tables with the headings of this one, whose meanings are offered. */
  known = $state.raw<KnownColumns[]>([]);
  /** The name of the earlier table whose meanings are used; empty for suggestions. */
  columnsAsIn = $state("");
  options = $state<Omit<Options, "dry_run">>({
    on_error: "skip",
    mode: "insert",
    unknown_experience: "refuse",
    create_groups: false,
    ...unsaid,
  });
  /** The service's questions about the file. */
  questions = $state.raw<Questions>({});
  result = $state.raw<Summary | null>(null);
  step = $state<"choose" | "checking" | "checked" | "importing" | "done">("choose");
  /** The last import of a file with the same bytes. */
  before = $state.raw<ImportedFile | null>(null);
  /** Whether the person confirmed that such a file is imported again. */
  again = $state(false);
  /** The file that is chosen and not imported yet: the window asks before it closes. */
  readonly draft = new Draft({ file: "" });
  #done = $state<number | null>(null);
  #digest = "";
  /** The meanings that were suggested for the columns. */
  #suggested: string[] = [];
  #work = $state.raw<Work | null>(null);
  /** The source of the present import, or of the last one. */
  #sent: Source | null = null;
  #bytes = new ArrayBuffer(0);

  /** The number of imported rows. */
  get imported(): number {
    return this.#work?.done ?? 0;
  }

  /** The remaining time, as text. */
  get left(): string {
    return this.#work ? timeLeft(this.#work.begun, this.#work.done, this.#work.total ?? 0) : "";
  }

  get busy(): boolean {
    return this.step === "checking" || this.step === "importing";
  }

  /** Whether a check found that no row can be imported. */
  get hopeless(): boolean {
    return this.step === "checked" && this.result !== null && this.result.created + this.result.updated === 0;
  }

  /** Whether the same file was imported before, and the person has not confirmed another import. */
  get isRepeat(): boolean {
    return this.before !== null && !this.again;
  }

  /** The last import, if it can be undone. */
  get undoable(): Change | null {
    return notices.changes.find(({ id }) => id === this.#done) ?? null;
  }

  /** The effect of undoing the last import, as text. */
  get undoWords(): string {
    return this.undoable && this.result ? undoWords(this.result) : "";
  }

  /** Whether an import ended before all rows. */
  get unfinished(): boolean {
    return this.step === "done" && this.result !== null && this.result.next !== null;
  }

  /**
   * Chooses a file. Its columns get the meanings that the service suggests, which knows the exports
   * of `preset`.
   */
  async choose(file: File, preset?: string): Promise<void> {
    const bytes = await file.arrayBuffer();
    const table = await upload("/tags/import/table", bytes, FILE_TYPE, { preset: preset ?? null });
    this.#bytes = bytes;
    this.#digest = await digestOf(bytes);
    this.file = file.name;
    this.before = importOf(this.#digest);
    this.again = false;
    this.#done = null;
    Object.assign(this.options, unsaid);
    this.#show(table);
    this.known = knownFor(this.#headings);
    // Another order of columns can be another table, so its meanings are only offered.
    const known = this.known.find((one) => isSameTable(one, this.#headings));
    if (known) this.useColumnsOf(known.name);
  }

  get #headings(): string[] {
    return this.table?.columns.map(({ heading }) => heading) ?? [];
  }

  /** Uses the meanings of an earlier table; without a name, the suggested ones. */
  useColumnsOf(name: string): void {
    const known = this.known.find((one) => one.name === name);
    this.columnsAsIn = known ? name : "";
    this.mapping = known ? mappingBy(known, this.#headings) : [...this.#suggested];
    this.edited();
  }

  /** Suggests the meanings of the columns for another service's export. */
  async suggest(preset: string): Promise<void> {
    this.edited();
    if (this.table) this.#show(await upload("/tags/import/table", this.#bytes, FILE_TYPE, { preset }));
  }

  #show(table: ImportTable): void {
    this.table = table;
    this.#suggested = meaningsOf(
      table.columns.map(({ heading, column }, index) => ({
        heading,
        column: column ?? null,
        cells: table.rows.flatMap(({ cells }) => cells[index] || []),
      })),
    );
    this.mapping = [...this.#suggested];
    this.columnsAsIn = "";
    this.questions = {};
    this.edited();
  }

  /** The cells of some rows, by their numbers. */
  async cellsOf(numbers: readonly number[]): Promise<Map<number, string[]>> {
    const cells = new Map<number, string[]>();
    for (let from = 0; from < numbers.length; from += SHOWN_MAX) {
      const rows = numbers.slice(from, from + SHOWN_MAX).join(",");
      const shown = await upload("/tags/import/table", this.#bytes, FILE_TYPE, { rows });
      for (const { row, cells: texts } of shown.rows) cells.set(row, texts);
    }
    return cells;
  }

  /** Discards the result, because the file or the mapping has changed. */
  edited(): void {
    this.result = null;
    this.step = "choose";
    this.#keep();
  }

  clear(): void {
    this.table = null;
    this.edited();
  }

  /**
   * Whether closing the window would lose something: a file that is not imported, or the rest of
   * one.
   */
  get #waits(): boolean {
    return this.table !== null && (this.unfinished || this.step === "choose" || this.step === "checked");
  }

  #keep(): void {
    if (this.#waits && !this.draft.changed) this.draft.onDiscard("file", () => this.#waits && this.clear());
    this.draft.form.file = this.#waits ? this.file : "";
  }

  /** Undoes the last import. */
  async undo(): Promise<void> {
    if (this.undoable && (await notices.undoOne(this.undoable))) this.clear();
  }

  /**
   * Reports the import with its undo. `text` describes the imported rows; `offer` leads back to its
   * result.
   */
  report(sum: Summary, text: string, after: () => Promise<void>, offer?: { name: string; run: () => void }): void {
    const { file } = this;
    const undoes = undoWords(sum);
    const digest = this.#digest;
    // An import of the rest is undone together with its beginning.
    if (this.#done !== null) notices.forget(this.#done);
    const undo = async () => {
      await undoImport(file, sum);
      forgetImport(digest);
      await after();
    };
    const how = { about: `Import of ${file}`, ...(offer ? { offer } : {}) };
    this.#done = notices.done(text, undoes ? undo : undefined, how);
  }

  stop(): void {
    this.#work?.stop();
  }

  /** Checks or imports the rows. */
  async start(dry_run: boolean, common: Common = {}): Promise<Summary | null> {
    if (!this.table) return null;
    this.#sent = { bytes: this.#bytes, table: this.table, mapping: $state.snapshot(this.mapping), common };
    return this.#send(dry_run, null);
  }

  /** Imports the rows that an earlier import did not reach. */
  async resume(): Promise<Summary | null> {
    return this.unfinished ? this.#send(false, this.result) : null;
  }

  #ask({ field, message }: { field: string; message: string }): void {
    this.questions = { ...this.questions, [field]: message };
  }

  /** Remembers the meanings of an imported table, unless they are the suggested ones. */
  #rememberColumns({ table, mapping }: Source): void {
    const isSuggested = mapping?.every((meaning, index) => meaning === this.#suggested[index]);
    if (!mapping || isSuggested) return;
    rememberColumns({ name: this.file, headings: table.columns.map(({ heading }) => heading), mapping: [...mapping] });
  }

  async #send(dry_run: boolean, before: Summary | null): Promise<Summary | null> {
    const source = this.#sent!;
    const switched = switchedSince();
    this.step = dry_run ? "checking" : "importing";
    this.result = null;
    this.#keep();
    const options = { dry_run, ...$state.snapshot(this.options) };
    const send = (work: Work | null) => {
      this.#work = work;
      const told = ({ rows }: Summary) => work && (work.done = rows - (before?.rows ?? 0));
      return importTable(source, options, told, () => work?.stopping ?? false, before);
    };
    const rows = source.table.row_count - (before?.rows ?? 0);
    const sum = await attempt(async () => {
      try {
        return await (dry_run ? send(null) : works.run(`Importing ${this.file}`, rows, send));
      } catch (error) {
        // A question to the person, which the form shows.
        const asked = error instanceof Problem && error.errors.find(isQuestion);
        if (!asked) throw error;
        this.#ask(asked);
        return null;
      }
    });
    this.#work = null;
    if (sum?.results.some(lacksChip)) this.#ask({ field: "technology", message: "Some rows have a UID, but do not say which chip it is." });
    // If the rest failed at once, the earlier result stays.
    this.result = sum ?? before;
    this.step = this.result ? (dry_run ? "checked" : "done") : "choose";
    this.#keep();
    const { created = 0, updated = 0 } = sum ?? {};
    if (!dry_run && !switched() && created + updated > 0) {
      remember({ digest: this.#digest, name: this.file, at: present(), created, updated });
      this.#rememberColumns(source);
    }
    return sum ?? null;
  }
}
