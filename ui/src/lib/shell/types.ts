// Made from the types of src-tauri: UPDATE_SHELL_TYPES=1 cargo test -p tapdesk --lib page_types

import type { EncodingReason, EncodingState, MacFrom, Mirror } from "../api/types";

/**
 * Which codes a chip writes into its URL.
 */
export type ChipCodes = { "kind": "unknown" } | { "kind": "off" } | { "kind": "on",
/**
 * How it shows UID and counter; none if it shows neither.
 */
mirror: Mirror | null,
/**
 * What its MAC covers; none if the service has no setting for it.
 */
mac_from: MacFrom | null,
/**
 * The number of the key that encrypts UID and counter.
 */
meta_key: number | null,
/**
 * The number of the key that makes the MAC.
 */
file_key: number | null,
/**
 * Why the service cannot check these codes, as a sentence; none if it can.
 */
problem: string | null, };

/**
 * A chip, as far as it lets itself be known.
 */
export type ChipKind = "ntag424dna" | "ntag213" | "ntag215" | "ntag216" | "ultralight" | "inconsistent" | "other_type2" | "other_type4" | "unknown";

/**
 * Who may write a chip.
 */
export type ChipLock = "open" | "key" | "partly" | "marked" | "locked" | "unknown";

/**
 * A service that the screens can speak to.
 */
export type Connection = {
/**
 * Its name for commands.
 */
id: string,
/**
 * Its name for people.
 */
name: string,
/**
 * Which kind it is.
 */
kind: ConnectionKind,
/**
 * Its address.
 */
url: string, };

/**
 * Where a service runs.
 */
export type ConnectionKind = "embedded" | "remote";

/**
 * Where a tap is sent.
 */
export type Destination = "service" | "url";

/**
 * Something that the doctor has to say.
 */
export type DoctorFinding = {
/**
 * What it is, by name.
 */
kind: DoctorKind,
/**
 * What it is, in one sentence.
 */
title: string,
/**
 * Why it is so, and what to do.
 */
text: string,
/**
 * What to paste into a terminal, if that helps.
 */
command: string | null, };

/**
 * What can be found.
 */
export type DoctorKind = "ready" | "no_service" | "permission" | "no_reader" | "driver_taken" | "sharing" | "module" | "unsupported_card" | "unavailable" | "mute";

/**
 * What became of a download.
 */
export type DownloadOutcome = "saved" | "stopped" | "broken_off";

/**
 * How much of a file has arrived.
 */
export type Downloaded = { bytes: number,
/**
 * Lines, those within quotes not counted.
 */
rows: number, };

/**
 * A step that was made: its name, its status and its time. Its data are not noted, whatever they
 * are: a session that the factory key opened can be read by whoever sees them.
 */
export type EncodingLine = {
/**
 * What it was.
 */
name: string,
/**
 * The status word; `None` for a new activation, and if no answer came.
 */
status: string | null,
/**
 * How long it took, in microseconds.
 */
micros: number, };

/**
 * Where an encoding stands.
 */
export type EncodingProgress = {
/**
 * The reader's name.
 */
reader: string,
/**
 * The insertion.
 */
insertion: number,
/**
 * The encoding's id at the service.
 */
id: number | null,
/**
 * Its state, by the service's word.
 */
state: EncodingState,
/**
 * Why it is not encoded, by the service's word.
 */
reason: EncodingReason | null,
/**
 * Why the service refuses to encode it, in its own words. Another attempt is refused, too.
 */
refusal: string | null,
/**
 * What came of it.
 */
result: { tag_id: number; slug: string; url: string; counter: number } | null,
/**
 * How far it is.
 */
step: EncodingStep,
/**
 * The step that is under way.
 */
doing: string | null,
/**
 * The steps that were made.
 */
log: Array<EncodingLine>, };

/**
 * How many steps are done, of how many.
 */
export type EncodingStep = {
/**
 * Those that are done.
 */
at: number,
/**
 * All of them.
 */
of: number, };

/**
 * One command and its answer.
 */
export type Exchange = {
/**
 * What was asked, in words.
 */
asked: string,
/**
 * The command in hexadecimal.
 */
command: string,
/**
 * The answer in hexadecimal, its status word last; empty if none came.
 */
answer: string,
/**
 * What the answer says, in words.
 */
said: string,
/**
 * How long it took, in microseconds.
 */
micros: number, };

/**
 * A card that was laid down and could not be read.
 */
export type Failed = {
/**
 * The number of this insertion.
 */
insertion: number,
/**
 * When it was tried.
 */
at: string,
/**
 * The card's UID in hexadecimal, if it was read that far.
 */
uid: string | null,
/**
 * Whether it was read so far that its counter may have risen.
 */
may_have_counted: boolean,
/**
 * Every command and its answer.
 */
log: Array<Exchange>,
/**
 * Its name.
 */
kind: string,
/**
 * What it is, and what to do, as one sentence or two.
 */
text: string, };

/**
 * Where the key that wraps inlay keys is kept.
 */
export type KeyStore = {
/**
 * Which kind of place it is.
 */
kind: KeyStoreKind,
/**
 * The place in words, and why it is not the keychain if it is not.
 */
text: string, };

/**
 * Kinds of places for secrets.
 */
export type KeyStoreKind = "keychain" | "file" | "locked";

/**
 * What the owner sets in the form.
 */
export type KioskChoices = {
/**
 * The display, by its name; the first if it is not there.
 */
display: string | null,
/**
 * Large on the attract page.
 */
heading: string,
/**
 * Below it.
 */
text: string,
/**
 * The owner's name or shop, small on the attract page; empty for none.
 */
name: string,
/**
 * The ground of the attract page and of the strip, `#rrggbb`; `None` for Tapdesk's own. The
 * page chooses text that can be read on it.
 */
colour: string | null,
/**
 * After how many seconds without input a visit ends.
 */
idle_seconds: number,
/**
 * For how many seconds each picture is shown.
 */
picture_seconds: number,
/**
 * The hosts that visitors may be led to, besides the service itself.
 */
hosts: Array<string>,
/**
 * The address that the attract page shows as a QR code.
 */
code: string | null,
/**
 * Whether it makes sounds.
 */
sound: boolean,
/**
 * Whether the screen flashes when a tag is read.
 */
light: boolean,
/**
 * Whether it starts with the person's session.
 */
autostart: boolean, };

/**
 * The counts of one day.
 */
export type KioskDay = {
/**
 * Which day, counted from the Unix epoch.
 */
number: number,
/**
 * Tags that opened an experience.
 */
visits: number,
/**
 * Visits that the visitor ended; the others ended by themselves.
 */
done: number,
/**
 * Tags and links that lead to hosts which the kiosk does not show.
 */
other_host: number,
/**
 * Tags whose URL was copied from another chip.
 */
copied: number,
/**
 * Tags that could not be read, or that say nothing.
 */
unread: number,
/**
 * Pages that did not open, or broke.
 */
failed: number, };

/**
 * What the owner's screen shows.
 */
export type KioskOverview = { chosen: KioskChoices, has_pin: boolean, pictures: Array<KioskPicture>, displays: Array<string>, today: KioskDay,
/**
 * Why this system has no kiosk, if it has none.
 */
why_not: string | null, };

/**
 * A picture of the attract page.
 */
export type KioskPicture = { name: string, url: string | null, };

/**
 * What is written on a chip.
 */
export type NdefMessage = { "kind": "records",
/**
 * In their order.
 */
records: Array<NdefRecord>, } | { "kind": "blank" } | { "kind": "unformatted" } | { "kind": "protected" } | { "kind": "broken",
/**
 * What is wrong, as a sentence.
 */
reason: string, } | { "kind": "none" };

/**
 * A record.
 */
export type NdefRecord = { "kind": "uri",
/**
 * All of it.
 */
uri: string, } | { "kind": "text",
/**
 * Its language, as in `en`.
 */
language: string,
/**
 * The text.
 */
text: string, } | { "kind": "smart_poster",
/**
 * Its URI and its titles.
 */
records: Array<NdefRecord>, } | { "kind": "empty" } | { "kind": "other",
/**
 * What it is, as in `text/vcard`.
 */
name: string,
/**
 * The length of its content in bytes.
 */
length: number, };

/**
 * What lies on a slot.
 */
export type OnReader = { "state": "nothing" } | { "state": "inlay" } & Reading | { "state": "failed" } & Failed | { "state": "unavailable" } | { "state": "module" };

/**
 * Whether a chip is its maker's, by the signature over its UID. Whoever copies the UID copies
 * the signature, too: it verifies no tap.
 */
export type Original = "yes" | "no" | "unknown";

/**
 * What a start can fail at.
 */
export type ProblemKind = "port_in_use" | "database_in_use" | "damaged" | "newer" | "foreign" | "keys" | "other";

/**
 * What was read of the chip on which the URL was found, as the dry run takes it.
 */
export type ReadChip = {
/**
 * Its UID in hexadecimal; none if the reader does not tell it.
 */
uid: string | null,
/**
 * Its make.
 */
technology: string | null,
/**
 * Whether its settings say that it makes codes; none if they were not read.
 */
makes_codes: boolean | null, };

/**
 * A slot of a reader.
 */
export type ReaderPlace = {
/**
 * The reader's name.
 */
name: string,
/**
 * What lies on it.
 */
on: OnReader, };

/**
 * What lies where.
 */
export type ReaderTable = {
/**
 * What keeps every reader from being used.
 */
fault: ReaderTrouble | null,
/**
 * The readers, in the order in which they came.
 */
readers: Array<ReaderPlace>, };

/**
 * Something that does not work, in words.
 */
export type ReaderTrouble = {
/**
 * Its name.
 */
kind: string,
/**
 * What it is, and what to do, as one sentence or two.
 */
text: string, };

/**
 * An inlay that was laid down and read.
 */
export type Reading = {
/**
 * The number of this insertion: rises with each, on whichever reader.
 */
insertion: number,
/**
 * When it was read.
 */
at: string,
/**
 * Every command and its answer.
 */
log: Array<Exchange>,
/**
 * The number it is known by, in hexadecimal; none if neither reader nor chip tell it.
 */
uid: string | null,
/**
 * Whether that number is random each time the chip is powered.
 */
random_uid: boolean,
/**
 * Its answer to reset, in hexadecimal.
 */
atr: string,
/**
 * Which chip it is.
 */
chip: ChipKind,
/**
 * Bytes of memory for messages.
 */
memory: number | null,
/**
 * Whether its maker signed its UID.
 */
original: Original,
/**
 * Who may write it.
 */
lock: ChipLock,
/**
 * Which codes it writes into its URL.
 */
codes: ChipCodes,
/**
 * What is written on it.
 */
message: NdefMessage,
/**
 * The first URL of the message.
 */
url: string | null,
/**
 * All of it in one plain sentence.
 */
sentence: string, };

/**
 * The service runs.
 */
export type Ready = {
/**
 * The version of this program.
 */
version: string,
/**
 * The service that the screens show.
 */
connection: Connection,
/**
 * Every service they can show.
 */
connections: Array<Connection>,
/**
 * Where the embedded service listens.
 */
address: string,
/**
 * Base of the tags' URLs of the embedded service.
 */
tag_url: string,
/**
 * Addresses by which phones on this network reach the embedded service;
 * empty while it listens on loopback alone.
 */
lan: Array<string>,
/**
 * Whether an argument or the environment says where it listens: the choices do not.
 */
listen_fixed: boolean,
/**
 * The port that the owner fixed.
 */
port_fixed: number | null,
/**
 * Where the key that wraps inlay keys is kept.
 */
key_store: KeyStore,
/**
 * The SQLite file of the embedded service.
 */
database: string, };

/**
 * What is wrong with a field.
 */
export type RefusedField = { field: string, message: string, };

/**
 * What a command answers that refuses a form: the members of a problem of the admin API that its
 * client reads.
 */
export type RefusedForm = { detail: string, errors: Array<RefusedField>, };

/**
 * What a rotation does at the moment.
 */
export type RotationPhase = "checking" | "wrapping" | "erasing";

/**
 * How far a rotation is.
 */
export type RotationProgress = {
/**
 * What is done at the moment.
 */
phase: RotationPhase,
/**
 * Rows that are done.
 */
done: number,
/**
 * All rows that have secrets; 0 if this phase does not count.
 */
total: number, };

/**
 * The result of a tap.
 */
export type SentTap = {
/**
 * When it was sent.
 */
at: string,
/**
 * The answer's status.
 */
status: number,
/**
 * Where the answer leads; not followed.
 */
location: string | null,
/**
 * The rolling key, as the owner's page receives it.
 */
rk: string | null,
/**
 * The same as clients send it.
 */
rk_base64: string | null,
/**
 * What the owner's page learns for the key.
 */
payload: Record<string, unknown> | null,
/**
 * How long the tap took until it was answered, in microseconds.
 */
tap_micros: number,
/**
 * How long the payload took, in microseconds; null if it was not read.
 */
payload_micros: number | null, };

/**
 * Where the shell stands.
 */
export type ShellState = { "phase": "starting" } | { "phase": "rotating",
/**
 * How far it is.
 */
progress: RotationProgress, } | { "phase": "failed",
/**
 * Why, and what can be done.
 */
problem: StartProblem, } | { "phase": "ready" } & Ready;

/**
 * Something that keeps the service from starting, and the ways out.
 */
export type StartProblem = {
/**
 * Which ways out there are.
 */
kind: ProblemKind,
/**
 * One sentence that names the thing.
 */
title: string,
/**
 * What can be done.
 */
text: string,
/**
 * The database concerned, if it is one.
 */
path: string | null,
/**
 * A port that is free, if the wanted one cannot be had.
 */
free_port: number | null, };
