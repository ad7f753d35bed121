// The only module of the owner's screens that knows the host; the kiosk's page
// has its own, without their commands. In the desktop the service is reached
// in-process, through a custom scheme, and the shell through commands; in a
// browser (the test harness, which serves this build) through relative URLs.

import { Channel, convertFileSrc, invoke, isTauri } from "@tauri-apps/api/core";
import type { LiveEvent } from "./api/types";

/** Something that keeps the service from starting, and the ways out. */
export interface StartProblem {
  kind: "port_in_use" | "database_in_use" | "damaged" | "newer" | "foreign" | "keys" | "other";
  /** One sentence that names the thing. */
  title: string;
  /** What can be done. */
  text: string;
  /** The database concerned, where it is one. */
  path: string | null;
  /** A port that is free, where the wanted one is not. */
  free_port: number | null;
}

/** A service that the screens can speak to. */
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
  /** Where the embedded service listens. */
  address: string;
  tag_url: string;
  /** Addresses by which phones on this network reach it; empty while it listens on loopback alone. */
  lan: string[];
  /** Whether an argument or the environment says where it listens. */
  listen_fixed: boolean;
  port_fixed: number | null;
  /** Where the key that wraps inlay keys is kept. */
  key_store: { kind: "keychain" | "file" | "locked"; text: string };
  database: string;
}

export type ShellState = { phase: "starting" } | { phase: "failed"; problem: StartProblem } | Ready;

/** A record of an inlay's message. */
export type NdefRecord =
  | { kind: "uri"; uri: string }
  | { kind: "text"; language: string; text: string }
  | { kind: "smart_poster"; records: NdefRecord[] }
  | { kind: "empty" }
  | { kind: "other"; name: string; length: number };

/** A command to a card, and its answer; both in hexadecimal. */
export interface Exchange {
  asked: string;
  command: string;
  answer: string;
  said: string;
  micros: number;
}

/** An inlay that was laid down and read. */
export interface Laid {
  /** Rises with each insertion, on whichever reader. */
  insertion: number;
  at: string;
  uid: string | null;
  atr: string;
  /** Whether the UID is another one each time the chip is powered. */
  random_uid: boolean;
  chip:
    | "ntag424dna"
    | "ntag213"
    | "ntag215"
    | "ntag216"
    | "ultralight"
    | "inconsistent"
    | "other_type2"
    | "other_type4"
    | "unknown";
  /** Bytes of memory for messages. */
  memory: number | null;
  lock: "open" | "key" | "partly" | "marked" | "locked" | "unknown";
  codes: ChipCodes;
  message:
    | { kind: "records"; records: NdefRecord[] }
    | { kind: "blank" | "unformatted" | "protected" | "none" }
    | { kind: "broken"; reason: string };
  url: string | null;
  /** All of it in one plain sentence. */
  sentence: string;
  log: Exchange[];
}

/** Which codes a chip writes into its URL, by its own settings. */
export type ChipCodes =
  | { kind: "unknown" }
  | { kind: "off" }
  | {
      kind: "on";
      mirror: "plain" | "encrypted" | null;
      mac_from: "none" | "uid" | null;
      /** Numbers of its keys: the one that encrypts UID and counter, and the one that makes the MAC. */
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
  /** Whether it was read so far that its counter may have risen. */
  may_have_counted: boolean;
  log: Exchange[];
}

/** A slot of a reader. */
export interface ReaderPlace {
  name: string;
  on:
    | { state: "nothing" | "unavailable" | "module" }
    | ({ state: "inlay" } & Laid)
    | ({ state: "failed" } & Failed);
}

/** What lies on the readers. */
export interface ReaderTable {
  fault: { kind: string; text: string } | null;
  readers: ReaderPlace[];
}

/** What came of a tap that was sent. */
export interface Exercised {
  at: string;
  status: number;
  location: string | null;
  rk: string | null;
  rk_base64: string | null;
  payload: Record<string, unknown> | null;
}

/** Something that the reader doctor has to say. */
export interface DoctorFinding {
  kind: string;
  title: string;
  text: string;
  command: string | null;
}

export const inDesktop = isTauri();

/** The address before every path of the service. */
export const serviceBase = inDesktop ? convertFileSrc("", "tapdesk").replace(/\/$/, "") : "";

/** The shell's state. A browser shows the service that served it. */
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

/** A command of the shell; `undefined` in a browser, which has no shell. */
async function shell<T>(command: string, payload: Record<string, unknown> = {}): Promise<T | undefined> {
  return inDesktop ? invoke<T>(command, payload) : undefined;
}

/** Starts again, on another port where one is named. */
export const restartService = (port: number | null) => shell<void>("restart_service", { port });
/** Starts with a new, empty database; the present one is moved aside, not deleted. */
export const startAfresh = () => shell<string>("start_afresh");
/** Restores a backup that the person chooses; answers its name. */
export const restoreBackup = (passphrase: string) => shell<string | null>("restore_backup", { passphrase });
/** Fixes the port, or lets the system choose again. */
export const fixPort = (port: number | null) => shell<void>("fix_port", { port });
/** Opens the listener to this network, or closes it again. */
export const allowPhones = (allowed: boolean) => shell<void>("allow_phones", { allowed });
/** Speaks to another service from now on. */
export const connect = (id: string) => shell<void>("connect", { id });
export const addConnection = (name: string, url: string, token: string) =>
  shell<Connection>("add_connection", { name, url, token });
export const removeConnection = (id: string) => shell<void>("remove_connection", { id });
/** Tells the shell whether closing the window would lose something. */
export const setUnsaved = (unsaved: boolean) => shell<void>("set_unsaved", { unsaved });

/** Opens an address in the system's browser. */
export async function openExternal(url: string): Promise<void> {
  if (inDesktop) await invoke("open_external", { url });
  else window.open(url, "_blank", "noopener,noreferrer");
}

/** Saves a file where the person says; `false` where they thought better of it. */
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
  /** Lines, those within quotes not counted. */
  rows: number;
}

/** Saves a file of the service as it arrives; nothing in a browser, which has no shell. */
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

/** Hears of every event until the returned function is called. */
export function onLiveEvent(heard: (event: LiveEvent) => void): () => void {
  if (!inDesktop) {
    const source = new EventSource("/admin/v1/events?simulated=all");
    const hear = (message: MessageEvent<string>) => heard(JSON.parse(message.data) as LiveEvent);
    source.addEventListener("interaction", hear);
    source.addEventListener("update", hear);
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

/** Hears of the shell's state whenever it changes. */
export function onShellState(heard: (state: ShellState) => void): void {
  if (!inDesktop) return;
  const channel = new Channel<ShellState>();
  channel.onmessage = heard;
  void invoke("watch_shell", { channel });
}

/** Hears of what lies on the readers, now and after every change. */
export function onReaders(heard: (table: ReaderTable) => void): void {
  if (!inDesktop) return;
  const channel = new Channel<ReaderTable>();
  channel.onmessage = heard;
  void invoke("watch_readers", { channel });
}

/** What a reader tells of a chip, as the dry run takes it. */
export interface ReadChip {
  uid: string | null;
  technology: string | null;
  makes_codes: boolean | null;
}

/** Sends a tap to the service that the screens show, or to the URL as it stands. With a chip nobody asked for it. */
export async function exercise(url: string, to: "service" | "url", automatic: ReadChip | null): Promise<Exercised> {
  if (!inDesktop) throw new Error("Taps are sent by the desktop.");
  return invoke<Exercised>("exercise", { url, to, automatic });
}

/** What keeps inlays from being read. */
export const readerDoctor = () => shell<DoctorFinding[]>("reader_doctor");

/** What the owner sets for the kiosk of this machine. */
export interface KioskChoices {
  display: string | null;
  heading: string;
  text: string;
  idle_seconds: number;
  picture_seconds: number;
  hosts: string[];
  code: string | null;
  sound: boolean;
  light: boolean;
  autostart: boolean;
}

/** The kiosk as its owner sees it. */
export interface KioskOverview {
  chosen: KioskChoices;
  has_pin: boolean;
  pictures: { name: string; url: string | null }[];
  displays: string[];
  today: { visits: number; done: number; elsewhere: number; unread: number; failed: number };
}

export const kioskSettings = () => shell<KioskOverview>("kiosk_settings");
/** Keeps the choices; answers them as they are kept. */
export const kioskChoose = (chosen: KioskChoices) => shell<KioskChoices>("kiosk_choose", { chosen });
export const kioskSetPin = (pin: string) => shell<void>("kiosk_set_pin", { pin });
export const kioskRemovePicture = (name: string) => shell<void>("kiosk_remove_picture", { name });
/** Shows the kiosk in place of this window. */
export const kioskStart = () => shell<void>("kiosk_start");

export async function kioskAddPicture(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  if (inDesktop) await invoke("kiosk_add_picture", bytes);
}
