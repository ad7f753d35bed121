// Made from the types of src-tauri: UPDATE_SHELL_TYPES=1 cargo test -p tapdesk --lib page_types

import type { EncodingReason, EncodingState, MacFrom, Mirror, Technology } from "../api/types";

/**
 * A backup in a bucket.
 */
export type BucketBackup = {
/**
 * Its name, which contains the time at which it was made.
 */
name: string,
/**
 * Its size, in bytes.
 */
bytes: number, };

/**
 * A bucket and its server, as a person enters them. For an empty value of the server, the variable
 * of the environment counts, as for scheduled backups. Nothing of it is stored.
 */
export type BucketForm = {
/**
 * The bucket and the path in it: `s3://BUCKET/PATH`.
 */
path: string,
/**
 * The URL of the server (`AWS_ENDPOINT_URL`).
 */
endpoint: string,
/**
 * The region of the server (`AWS_REGION`).
 */
region: string,
/**
 * The name of the access key (`AWS_ACCESS_KEY_ID`).
 */
access_key: string,
/**
 * The secret of the access key (`AWS_SECRET_ACCESS_KEY`).
 */
secret: string, };

/**
 * Counts of everything that leads to a port, at one moment.
 */
export type Carriers = {
/**
 * The port that the counts are about.
 */
port: number,
/**
 * Real inlays that are bound to a tag: their chips contain its URL.
 */
inlays: number,
/**
 * Real tags with a printed code.
 */
labels: number,
/**
 * Whether phones on this network are allowed.
 */
phones: boolean, };

/**
 * The codes that a chip writes into its URL.
 */
export type ChipCodes = { "kind": "unknown" } | { "kind": "off" } | { "kind": "on",
/**
 * How it mirrors UID and counter; none if it mirrors neither.
 */
mirror: Mirror | null,
/**
 * The MAC input in the canonical form; none if only a URL template defines it.
 */
mac_from: MacFrom | null,
/**
 * The number of the key that encrypts UID and counter.
 */
meta_key: number | null,
/**
 * The number of the key that generates the MAC.
 */
file_key: number | null,
/**
 * Whether the codes are in the canonical form, `uid` and `token`. Other forms need a URL
 * template.
 */
canonical: boolean,
/**
 * Why the codes verify no tap, as a sentence; none if they do.
 */
problem: string | null, };

/**
 * A kind of chip, as far as it can be recognized. In JSON it is one word.
 */
export type ChipKind = "inconsistent" | "other_type2" | "other_type4" | "unknown" | Technology;

/**
 * A service that the screens can show.
 */
export type Connection = {
/**
 * Its id in commands.
 */
id: string,
/**
 * The name that people see.
 */
name: string,
/**
 * Whether it is embedded or remote.
 */
kind: ConnectionKind,
/**
 * Its server URL, without a slash at its end.
 */
url: string, };

/**
 * The place where a service runs.
 */
export type ConnectionKind = "embedded" | "remote";

/**
 * The place to send a tap to.
 */
export type Destination = "service" | "url";

/**
 * A result of the doctor: a problem, or that a reader works.
 */
export type DoctorFinding = {
/**
 * The kind of finding, for programs.
 */
kind: DoctorKind,
/**
 * The finding in one sentence.
 */
title: string,
/**
 * The cause and the remedy.
 */
text: string,
/**
 * A command to paste into a terminal, if one helps.
 */
command: string | null, };

/**
 * The kinds of findings.
 */
export type DoctorKind = "ready" | "no_service" | "permission" | "no_reader" | "driver_taken" | "sharing" | "module" | "unsupported_card" | "unavailable" | "mute" | "no_font";

/**
 * How a download ended.
 */
export type DownloadOutcome = "saved" | "stopped" | "broken_off";

/**
 * How much of a file has arrived.
 */
export type Downloaded = { bytes: number,
/**
 * Line ends outside of quotes.
 */
rows: number, };

/**
 * A completed step: its name, its status and its time. The data is never logged, because it
 * reveals all keys of a session that the factory key opened.
 */
export type EncodingLine = {
/**
 * The name of the step.
 */
name: string,
/**
 * The status word; `None` for a new activation, and if no answer came.
 */
status: string | null,
/**
 * The duration, in microseconds.
 */
micros: number, };

/**
 * Progress of an encoding.
 */
export type EncodingProgress = {
/**
 * The name of the reader.
 */
reader: string,
/**
 * The number of the insertion that is encoded.
 */
insertion: number,
/**
 * The encoding's id at the service; none until it has begun.
 */
id: number | null,
/**
 * The encoding's state, by the admin API's name.
 */
state: EncodingState,
/**
 * The reason why the inlay is not encoded, by the admin API's name.
 */
reason: EncodingReason | null,
/**
 * The service's explanation of a refusal. Another attempt would be refused, too.
 */
refusal: string | null,
/**
 * The result of an encoding that succeeded.
 */
result: { tag_id: number; slug: string; url: string; counter: number } | null,
/**
 * The number of steps so far.
 */
step: EncodingStep,
/**
 * The name of the step in progress.
 */
doing: string | null,
/**
 * The completed steps, oldest first.
 */
log: Array<EncodingLine>, };

/**
 * Progress of an encoding in steps.
 */
export type EncodingStep = {
/**
 * The number of completed steps.
 */
at: number,
/**
 * The number of all steps.
 */
of: number, };

/**
 * One command and its answer, for the log.
 */
export type Exchange = {
/**
 * A description of the command.
 */
asked: string,
/**
 * The command in hexadecimal.
 */
command: string,
/**
 * The answer in hexadecimal, with its status word at the end; empty if none came.
 */
answer: string,
/**
 * A description of the status, or of the failure.
 */
said: string,
/**
 * How long it took, in microseconds.
 */
micros: number, };

/**
 * A card that was placed and could not be read.
 */
export type Failed = {
/**
 * The number of this insertion.
 */
insertion: number,
/**
 * When the read failed.
 */
at: string,
/**
 * The card's UID in hexadecimal; `None` if the read failed before it was known.
 */
uid: string | null,
/**
 * Whether the read got so far that the counter may have risen.
 */
may_have_counted: boolean,
/**
 * All commands and answers of the read.
 */
log: Array<Exchange>,
/**
 * A stable name of the problem, for programs.
 */
kind: string,
/**
 * The problem and its remedy, in one or two sentences.
 */
text: string, };

/**
 * The place of the key that wraps inlay keys.
 */
export type KeyStore = {
/**
 * The kind of place.
 */
kind: KeyStoreKind,
/**
 * A description of the place, with the reason if it is not the keychain.
 */
text: string, };

/**
 * Kinds of places for secrets.
 */
export type KeyStoreKind = "keychain" | "file" | "locked";

/**
 * The fields of the kiosk's settings form.
 */
export type KioskChoices = {
/**
 * The name of the display. If it is not connected, the first display is used.
 */
display: string | null,
/**
 * The large text of the attract page.
 */
heading: string,
/**
 * The text below the heading.
 */
text: string,
/**
 * The owner's name or shop, small on the attract page; empty for none.
 */
name: string,
/**
 * Background of the attract page and of the strip, as `#rrggbb`; `None` for Tapdesk's own. The
 * page chooses a text color that is readable on it.
 */
colour: string | null,
/**
 * Seconds without input after which a visit ends.
 */
idle_seconds: number,
/**
 * Seconds for which each picture is shown.
 */
picture_seconds: number,
/**
 * Hosts that visitors may see besides the service itself.
 */
hosts: Array<string>,
/**
 * The group whose tags visitors may open, with all groups below it; `None` for all tags.
 */
group_id: number | null,
/**
 * The URL that the attract page shows as a QR code. A path such as `/t/k3v9qa` is one at this
 * computer's present address on the network.
 */
code: string | null,
/**
 * The languages that visitors can choose, in their order; empty for all.
 */
languages: Array<string>,
/**
 * Whether a keyboard appears for a field of a visitor's page.
 */
keyboard: boolean,
/**
 * The program's next step after the right PIN.
 */
leaves_to: LeavesTo,
/**
 * Whether the kiosk plays a sound when a tag is read.
 */
sound: boolean,
/**
 * Whether the screen flashes when a tag is read.
 */
light: boolean,
/**
 * Whether the kiosk starts with the person's session. The session's own entry decides, because
 * the settings can be those of several users.
 */
autostart: boolean, };

/**
 * The counts of one day.
 */
export type KioskDay = {
/**
 * The number of the day since the Unix epoch, in UTC.
 */
number: number,
/**
 * Tags that opened an experience.
 */
visits: number,
/**
 * Visits that the visitor ended; the others timed out.
 */
done: number,
/**
 * Tags and links that lead to hosts that are not allowed.
 */
other_host: number,
/**
 * Tags that are not in the group that the kiosk shows.
 */
other_group: number,
/**
 * Tags whose URL was copied from another chip.
 */
copied: number,
/**
 * Tags that could not be read, or that contain no URL.
 */
unread: number,
/**
 * Pages that could not be opened, or whose process ended.
 */
failed: number, };

/**
 * A language without a font on this machine.
 */
export type KioskMissingFont = {
/**
 * The code of the language, as in BCP 47.
 */
language: string,
/**
 * The package that brings a font.
 */
package: string, };

/**
 * Content of the owner's kiosk settings.
 */
export type KioskOverview = { chosen: KioskChoices, has_pin: boolean, pictures: Array<KioskPicture>, logo: KioskPicture | null, displays: Array<string>, today: KioskDay,
/**
 * When the last visit began; `None` before the first one.
 */
last_visit_at: string | null,
/**
 * Languages whose letters this machine cannot show.
 */
missing_fonts: Array<KioskMissingFont>,
/**
 * The folder that contains all of this.
 */
folder: string,
/**
 * Whether autostart applies to every user of this computer, and not only to this one.
 */
autostart_for_all: boolean,
/**
 * The reason why this system has no kiosk; `None` if it has one.
 */
why_not: string | null, };

/**
 * A picture of the attract page.
 */
export type KioskPicture = { name: string, url: string | null, };

/**
 * The program's next step after the right PIN, if the computer was started as a kiosk. A kiosk
 * that was started in the owner's window always returns there.
 */
export type LeavesTo = "quit" | "window";

/**
 * The message on a chip.
 */
export type NdefMessage = { "kind": "records",
/**
 * The records, in their order.
 */
records: Array<NdefRecord>, } | { "kind": "blank" } | { "kind": "unformatted" } | { "kind": "unread" } | { "kind": "protected" } | { "kind": "broken",
/**
 * The error as a sentence.
 */
reason: string, } | { "kind": "none" };

/**
 * A record of a message.
 */
export type NdefRecord = { "kind": "uri",
/**
 * The URI with its prefix written out.
 */
uri: string, } | { "kind": "text",
/**
 * Its language, as in `en`.
 */
language: string,
/**
 * The text, decoded from UTF-8 or UTF-16.
 */
text: string, } | { "kind": "smart_poster",
/**
 * The poster's records: its URI and its titles.
 */
records: Array<NdefRecord>, } | { "kind": "empty" } | { "kind": "other",
/**
 * Its type, as in `text/vcard`.
 */
name: string,
/**
 * The length of its content in bytes.
 */
length: number, };

/**
 * Content of a slot.
 */
export type OnReader = { "state": "nothing" } | { "state": "inlay" } & Reading | { "state": "failed" } & Failed | { "state": "unavailable" } | { "state": "module" };

/**
 * Whether a chip is genuine, by its maker's signature over the UID. A copy of the UID can include
 * the signature, so this verifies no tap.
 */
export type Original = "yes" | "no" | "unknown";

/**
 * The kinds of problems at a start.
 */
export type ProblemKind = "port_in_use" | "database_in_use" | "damaged" | "newer" | "foreign" | "keys" | "other";

/**
 * Facts about the chip that contains the URL, in the form that the dry run takes.
 */
export type ReadChip = {
/**
 * UID in hexadecimal; none if the reader does not report it.
 */
uid: string | null,
/**
 * The chip's technology, by the admin API's name.
 */
technology: string | null,
/**
 * Whether its settings say that it generates codes; none if they were not read.
 */
makes_codes: boolean | null, };

/**
 * A slot of a reader.
 */
export type ReaderPlace = {
/**
 * The name of the slot, as the system lists it.
 */
name: string,
/**
 * The content of the slot.
 */
on: OnReader, };

/**
 * The contents of all readers.
 */
export type ReaderTable = {
/**
 * A problem that makes all readers unusable.
 */
fault: ReaderTrouble | null,
/**
 * The slots, in the order in which they were connected.
 */
readers: Array<ReaderPlace>, };

/**
 * A problem with a reader or a card.
 */
export type ReaderTrouble = {
/**
 * A stable name of the problem, for programs.
 */
kind: string,
/**
 * The problem and its remedy, in one or two sentences.
 */
text: string, };

/**
 * An inlay that was placed and read.
 */
export type Reading = {
/**
 * The number of this insertion. It rises with each insertion, on any reader.
 */
insertion: number,
/**
 * When it was read.
 */
at: string,
/**
 * All commands and answers of the read.
 */
log: Array<Exchange>,
/**
 * The UID in hexadecimal; none if neither reader nor chip reports it.
 */
uid: string | null,
/**
 * Whether the UID is random each time the chip is powered.
 */
random_uid: boolean,
/**
 * The answer to reset (ATR), in hexadecimal.
 */
atr: string,
/**
 * The kind of chip.
 */
chip: ChipKind,
/**
 * Bytes of memory for messages; none if unknown.
 */
memory: number | null,
/**
 * Whether the chip's maker signed its UID.
 */
original: Original,
/**
 * Who may write to the chip.
 */
lock: "open" | "key" | "partly" | "marked" | "locked" | "unknown",
/**
 * The codes that the chip writes into its URL.
 */
codes: ChipCodes,
/**
 * The message on the chip.
 */
message: NdefMessage,
/**
 * The first URL in the message; none if it has no URL.
 */
url: string | null,
/**
 * A summary of the reading in one sentence.
 */
sentence: string, };

/**
 * State of a running service.
 */
export type Ready = {
/**
 * The version of this program.
 */
version: string,
/**
 * The connection that the screens show.
 */
connection: Connection,
/**
 * All connections that the screens can show.
 */
connections: Array<Connection>,
/**
 * Server URL of the embedded service on this computer.
 */
address: string,
/**
 * Base of the tags' URLs of the embedded service.
 */
tag_url: string,
/**
 * Whether other devices, such as phones on this network, can reach the embedded service.
 */
phones: boolean,
/**
 * URLs by which phones on this network reach the embedded service. Empty if it listens only on
 * loopback, or if this computer is on no network.
 */
lan: Array<string>,
/**
 * Whether an argument or the environment sets the address, so that the owner's choices have no
 * effect.
 */
listen_fixed: boolean,
/**
 * The port that the owner fixed; none if the service chooses.
 */
port_fixed: number | null,
/**
 * Counts of everything that led to the former port when the service moved to this one. If all
 * are zero, the service moved automatically.
 */
moved: Carriers | null,
/**
 * Why the remote service that the screens show does not answer, as a sentence; none if it
 * answers.
 */
lost: string | null,
/**
 * The place of the key that wraps inlay keys.
 */
key_store: KeyStore,
/**
 * Path of the embedded service's SQLite file.
 */
database: string,
/**
 * Where to look for newer versions of this program, and the newer one that was found.
 */
releases: Releases, };

/**
 * The error of one field.
 */
export type RefusedField = { field: string, message: string, };

/**
 * The error of a command that refuses a form. It has those members of an admin API problem that
 * the page's client reads.
 */
export type RefusedForm = { detail: string, errors: Array<RefusedField>, };

/**
 * A release, as the file describes it.
 */
export type Release = {
/**
 * Its version, by Semantic Versioning.
 */
version: string,
/**
 * The web page where people find it.
 */
url: string,
/**
 * The changes in it, as plain text.
 */
notes: string, };

/**
 * Where the owner wants to look for releases.
 */
export type ReleaseSource = {
/**
 * The URL of a JSON file with `version`, `url` and `notes`. Its signature has the same URL with
 * `.minisig` behind its path.
 */
url: string,
/**
 * The minisign public key of whoever signs the file, in base64.
 */
public_key: string, };

/**
 * Where to look for releases, and the result of the last look.
 */
export type Releases = {
/**
 * Where to look; none if the desktop must not look.
 */
source: ReleaseSource | null,
/**
 * The time of the last look.
 */
looked_at: string | null,
/**
 * The newest release that was found.
 */
found: Release | null,
/**
 * Why the last look found nothing, as a sentence; none if it succeeded.
 */
problem: string | null, };

/**
 * A phase of a rotation.
 */
export type RotationPhase = "checking" | "wrapping" | "erasing";

/**
 * Progress of a rotation.
 */
export type RotationProgress = {
/**
 * The phase that the counts belong to.
 */
phase: RotationPhase,
/**
 * The number of completed rows.
 */
done: number,
/**
 * The number of rows that have secrets; 0 if the phase does not count rows.
 */
total: number, };

/**
 * The result of a tap.
 */
export type SentTap = {
/**
 * When the tap was sent.
 */
at: string,
/**
 * HTTP status of the response.
 */
status: number,
/**
 * The redirect target of the response; not followed.
 */
location: string | null,
/**
 * The rolling key, in the form that the owner's page receives.
 */
rk: string | null,
/**
 * The rolling key in base64, in the form that clients send.
 */
rk_base64: string | null,
/**
 * The payload that the owner's page gets for the key.
 */
payload: Record<string, unknown> | null,
/**
 * Time until the response to the tap, in microseconds.
 */
tap_micros: number,
/**
 * Time until the payload, in microseconds; null if it was not read.
 */
payload_micros: number | null, };

/**
 * State of the shell.
 */
export type ShellState = { "phase": "starting" } | { "phase": "rotating",
/**
 * Progress of the rotation.
 */
progress: RotationProgress, } | { "phase": "failed",
/**
 * The reason, and the ways out.
 */
problem: StartProblem, } | { "phase": "ready" } & Ready;

/**
 * A reason why the service cannot start, with the ways out.
 */
export type StartProblem = {
/**
 * The kind of problem, which decides about the ways out.
 */
kind: ProblemKind,
/**
 * A sentence that names the problem.
 */
title: string,
/**
 * The possible remedies, as sentences.
 */
text: string,
/**
 * The path of the affected database; none if no database is affected.
 */
path: string | null,
/**
 * A port that is free; none if the problem is not the port.
 */
free_port: number | null,
/**
 * Counts of everything that leads to the wanted port, and to no other port.
 */
carriers: Carriers | null, };
