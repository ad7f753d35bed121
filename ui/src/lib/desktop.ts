// The only module of the owner's screens that calls the shell; the kiosk's page has
// its own, with other commands. In the desktop, the page reaches the service
// in-process through a custom scheme, and the shell through commands. In a browser
// (the tests serve this build) it reaches the service through relative URLs.

import { Channel, convertFileSrc, invoke, isTauri } from "@tauri-apps/api/core";
import { Problem } from "./api/problem";
import type { EncodingReason, EncodingState, LiveEvent } from "./api/types";

/** Why the service does not start, and what can be done. */
export interface StartProblem {
  kind: "port_in_use" | "database_in_use" | "damaged" | "newer" | "foreign" | "keys" | "other";
  /** One sentence that names the problem. */
  title: string;
  /** What the person can do. */
  text: string;
  /** The database concerned, if any. */
  path: string | null;
  /** A free port, if the wanted one is in use. */
  free_port: number | null;
}

/** A service that the screens can connect to. */
export interface Connection {
  id: string;
  name: string;
  kind: "embedded" | "remote";
  url: string;
}

export interface Ready {
  phase: "ready";
  version: string;
  connection: Connection;
  connections: Connection[];
  /** The address of the listener of the embedded service. */
  address: string;
  tag_url: string;
  /** Addresses for phones on this network; empty if it listens on loopback only. */
  lan: string[];
  /** Whether an argument or the environment sets the address. */
  listen_fixed: boolean;
  port_fixed: number | null;
  /** Where the key that wraps inlay keys is stored. */
  key_store: { kind: "keychain" | "file" | "locked"; text: string };
  database: string;
}

/** How far the replacement of the wrapping key is. */
export interface RotationProgress {
  phase: "checking" | "wrapping" | "erasing";
  done: number;
  /** All rows with secrets; 0 if this phase does not count. */
  total: number;
}

export type ShellState =
  | { phase: "starting" }
  /** A replacement of the wrapping key that was interrupted is finished first. */
  | { phase: "rotating"; progress: RotationProgress }
  | { phase: "failed"; problem: StartProblem }
  | Ready;

/** A record of an inlay's message. */
export type NdefRecord =
  | { kind: "uri"; uri: string }
  | { kind: "text"; language: string; text: string }
  | { kind: "smart_poster"; records: NdefRecord[] }
  | { kind: "empty" }
  | { kind: "other"; name: string; length: number };

/** A command to a card and its response, in hexadecimal. */
export interface Exchange {
  asked: string;
  command: string;
  answer: string;
  said: string;
  micros: number;
}

/** What was read from an inlay. */
export interface Reading {
  /** Number of the insertion; it rises over all readers. */
  insertion: number;
  at: string;
  uid: string | null;
  atr: string;
  /** Whether the UID changes each time the chip is powered. */
  random_uid: boolean;
  chip: "ntag424dna" | "ntag213" | "ntag215" | "ntag216" | "ultralight" | "inconsistent" | "other_type2" | "other_type4" | "unknown";
  /** Bytes of memory for messages. */
  memory: number | null;
  /** Whether its maker signed its UID. */
  original: "yes" | "no" | "unknown";
  lock: "open" | "key" | "partly" | "marked" | "locked" | "unknown";
  codes: ChipCodes;
  message:
    | { kind: "records"; records: NdefRecord[] }
    | { kind: "blank" | "unformatted" | "protected" | "none" }
    | { kind: "broken"; reason: string };
  url: string | null;
  /** Summary in one sentence. */
  sentence: string;
  log: Exchange[];
}

/** The codes that a chip writes into its URL, from the chip's own settings. */
export type ChipCodes =
  | { kind: "unknown" }
  | { kind: "off" }
  | {
      kind: "on";
      mirror: "plain" | "encrypted" | null;
      mac_from: "none" | "uid" | null;
      /** Key numbers: the key that encrypts UID and counter, and the key of the MAC. */
      meta_key: number | null;
      file_key: number | null;
      /** Why the service cannot check these codes. */
      problem: string | null;
    };

/** A card that could not be read. */
export interface Failed {
  insertion: number;
  at: string;
  kind: string;
  text: string;
  uid: string | null;
  /** Whether the read went far enough to raise its counter. */
  may_have_counted: boolean;
  log: Exchange[];
}

/** A slot of a reader. */
export interface ReaderPlace {
  name: string;
  on: { state: "nothing" | "unavailable" | "module" } | ({ state: "inlay" } & Reading) | ({ state: "failed" } & Failed);
}

/** All readers and what is on them. */
export interface ReaderTable {
  fault: { kind: string; text: string } | null;
  readers: ReaderPlace[];
}

/** The result of a tap that was sent. */
export interface SentTap {
  at: string;
  status: number;
  location: string | null;
  rk: string | null;
  rk_base64: string | null;
  payload: Record<string, unknown> | null;
  /** How long the two requests took, in microseconds. */
  tap_micros: number;
  payload_micros: number | null;
}

/** A finding of the reader doctor. */
export interface DoctorFinding {
  kind: string;
  title: string;
  text: string;
  command: string | null;
}

export const inDesktop = isTauri();

/** The address before every path of the service. */
export const serviceBase = inDesktop ? convertFileSrc("", "tapdesk").replace(/\/$/, "") : "";

/** The shell's state. In a browser, the service that served the page. */
export async function shellState(): Promise<ShellState> {
  if (inDesktop) return invoke<ShellState>("shell_state");
  const here: Connection = { id: "embedded", name: "This computer", kind: "embedded", url: location.origin };
  return {
    phase: "ready",
    version: "",
    connection: here,
    connections: [here],
    address: location.origin,
    tag_url: `${location.origin}/t`,
    lan: [],
    listen_fixed: false,
    port_fixed: null,
    key_store: { kind: "file", text: "" },
    database: "",
  };
}

/** What the shell says of a form that it refuses. */
type RefusedForm = Pick<Problem, "errors"> & { detail: string };
const isRefusedForm = (error: unknown): error is RefusedForm =>
  typeof error === "object" && error !== null && "errors" in error && "detail" in error;

/** A command of the shell; `undefined` in a browser, which has no shell. */
async function shell<T>(command: string, payload: Record<string, unknown> = {}): Promise<T | undefined> {
  if (!inDesktop) return undefined;
  return invoke<T>(command, payload).catch((error: unknown) => {
    throw isRefusedForm(error) ? new Problem(0, error.detail, null, error.errors) : error;
  });
}

/** Restarts the service, on `port` if it is not null. */
export const restartService = (port: number | null) => shell<void>("restart_service", { port });
/** Starts with a new, empty database; moves the current one aside. */
export const createDatabase = () => shell<string>("start_afresh");
/** Restores a backup that the person chooses; returns its name, or null if they cancel. */
export const restoreBackup = (passphrase: string) => shell<string | null>("restore_backup", { passphrase });
/** Replaces the key that wraps secrets; `heard` is called with its progress. */
export async function rotateKey(heard: (progress: RotationProgress) => void): Promise<void> {
  if (!inDesktop) return;
  const channel = new Channel<RotationProgress>();
  channel.onmessage = heard;
  await invoke("rotate_key", { channel });
}
/** Sets the port; null lets the system choose one. */
export const fixPort = (port: number | null) => shell<void>("fix_port", { port });
/** Allows phones of this network to reach the listener, or not. */
export const allowPhones = (allowed: boolean) => shell<void>("allow_phones", { allowed });
/** Connects the screens to another service. */
export const connect = (id: string) => shell<void>("connect", { id });
export const addConnection = (name: string, url: string, token: string) => shell<Connection>("add_connection", { name, url, token });
export const removeConnection = (id: string) => shell<void>("remove_connection", { id });
/** Tells the shell whether closing the window would lose something. */
export const setUnsaved = (unsaved: boolean) => shell<void>("set_unsaved", { unsaved });

/** Opens an address in the system's browser. */
export async function openExternal(url: string): Promise<void> {
  if (inDesktop) await invoke("open_external", { url });
  else window.open(url, "_blank", "noopener,noreferrer");
}

/** Saves a file where the person chooses; `false` if they cancel. */
export async function saveFile(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<boolean> {
  if (inDesktop) return invoke<boolean>("save_file", bytes, { headers: { "x-file-name": encodeURIComponent(name) } });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([bytes]));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
  return true;
}

/** How much of a file has arrived. */
export interface Downloaded {
  bytes: number;
  /** Lines; line breaks within quotes do not count. */
  rows: number;
}

/** Saves a file of the service as it arrives; `null` in a browser, which has no shell. */
export function downloadFile(
  name: string,
  path: string,
  body: unknown,
  heard: (far: Downloaded) => void,
): { saved: Promise<boolean>; stop: () => void } | null {
  if (!inDesktop) return null;
  const id = crypto.randomUUID();
  const channel = new Channel<Downloaded>();
  channel.onmessage = heard;
  return {
    saved: invoke<boolean>("download", { wanted: { id, name, path, body }, channel }),
    stop: () => void invoke("stop_download", { id }),
  };
}

/** Subscribes to events until the returned function is called. */
export function onLiveEvent(heard: (event: LiveEvent) => void): () => void {
  if (!inDesktop) {
    const source = new EventSource("/admin/v1/events?simulated=all");
    const hear = (message: MessageEvent<string>) => heard(JSON.parse(message.data) as LiveEvent);
    source.addEventListener("interaction", hear);
    source.addEventListener("update", hear);
    source.addEventListener("submission", hear);
    source.addEventListener("alert", hear);
    return () => source.close();
  }
  let open = true;
  const channel = new Channel<LiveEvent>();
  channel.onmessage = (event) => {
    if (open) heard(event);
  };
  void invoke("live_events", { channel });
  return () => {
    open = false;
  };
}

/** Subscribes to changes of the shell's state. */
export function onShellState(heard: (state: ShellState) => void): void {
  if (!inDesktop) return;
  const channel = new Channel<ShellState>();
  channel.onmessage = heard;
  void invoke("watch_shell", { channel });
}

/** Subscribes to the readers: their state now, and after every change. */
export function onReaders(heard: (table: ReaderTable) => void): void {
  if (!inDesktop) return;
  const channel = new Channel<ReaderTable>();
  channel.onmessage = heard;
  void invoke("watch_readers", { channel });
}

/** A chip as a reader sees it, for the dry run. */
export interface ReadChip {
  uid: string | null;
  technology: string | null;
  makes_codes: boolean | null;
}

/**
 * Sends a tap to the connected service, or to the URL itself. `automatic` is the chip
 * of a tap that nobody clicked: the shell then sends it only to this service.
 */
export async function sendTap(url: string, to: "service" | "url", automatic: ReadChip | null): Promise<SentTap> {
  if (!inDesktop) throw new Error("Only the desktop can send taps.");
  return invoke<SentTap>("send_tap", { url, to, automatic });
}

/** How far an encoding is. Its words are those of the admin API. */
export interface EncodingProgress {
  reader: string;
  insertion: number;
  id: number | null;
  state: EncodingState;
  reason: EncodingReason | null;
  result: { tag_id: number; slug: string; url: string; counter: number } | null;
  step: { at: number; of: number };
  /** The step that is under way. */
  doing: string | null;
  /** The steps that were made: names, statuses and times, never data. */
  log: { name: string; status: string | null; micros: number }[];
}

/**
 * Encodes the inlay of an insertion. `target` says for what, as the admin API wants it. The shell
 * relays the service's commands; `heard` is called with each step.
 */
export async function encodeInlay(
  reader: string,
  insertion: number,
  target: Record<string, unknown>,
  heard: (progress: EncodingProgress) => void,
): Promise<EncodingProgress> {
  if (!inDesktop) throw new Error("Only the desktop can encode inlays.");
  const channel = new Channel<EncodingProgress>();
  channel.onmessage = heard;
  return invoke<EncodingProgress>("encode", { reader, insertion, target, channel });
}

/** Why inlays cannot be read. */
export const readerDoctor = () => shell<DoctorFinding[]>("reader_doctor");

/** Settings of the kiosk of this computer. */
export interface KioskChoices {
  display: string | null;
  heading: string;
  text: string;
  /** The owner's name or shop; empty for none. */
  name: string;
  /** The ground of the page, "#rrggbb"; `null` for Tapdesk's own. */
  colour: string | null;
  idle_seconds: number;
  picture_seconds: number;
  hosts: string[];
  code: string | null;
  sound: boolean;
  light: boolean;
  autostart: boolean;
}

/** The kiosk for its owner: settings and figures. */
export interface KioskOverview {
  chosen: KioskChoices;
  has_pin: boolean;
  pictures: { name: string; url: string | null }[];
  displays: string[];
  today: { visits: number; done: number; other_host: number; copied: number; unread: number; failed: number };
}

export const kioskSettings = () => shell<KioskOverview>("kiosk_settings");
/** Stores the settings; returns them as stored. */
export const kioskChoose = (chosen: KioskChoices) => shell<KioskChoices>("kiosk_choose", { chosen });
export const kioskSetPin = (pin: string) => shell<void>("kiosk_set_pin", { pin });
export const kioskRemovePicture = (name: string) => shell<void>("kiosk_remove_picture", { name });
/** Shows the kiosk in place of this window. */
export const kioskStart = () => shell<void>("kiosk_start");

export async function kioskAddPicture(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  if (inDesktop) await invoke("kiosk_add_picture", bytes);
}
