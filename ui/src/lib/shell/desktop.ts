// The only module of the owner's screens that calls the shell; the kiosk's page has
// its own, with other commands. In the desktop, the page reaches the service
// in-process through a custom scheme, and the shell through commands. In a browser
// (the tests serve this build) it reaches the service through relative URLs.

import { Channel, convertFileSrc, invoke, isTauri } from "@tauri-apps/api/core";
import { Problem } from "../api/problem";
import type { LiveEvent } from "../api/types";
import type {
  BucketBackup,
  BucketForm,
  Connection,
  Destination,
  DoctorFinding,
  Downloaded,
  DownloadOutcome,
  EncodingProgress,
  KioskChoices,
  KioskOverview,
  ReadChip,
  ReaderTable,
  RefusedForm,
  RotationProgress,
  SentTap,
  ShellState,
} from "./types";

export type * from "./types";

export const inDesktop = isTauri();

/**
 * The connection that the page shows. A command for its service names it, so that a command from
 * before a switch does not act on another service.
 */
let shown = "";
export const showing = (connection: string): void => void (shown = connection);

/**
 * The prefix of every path of the service. It names the connection: the shell refuses requests for
 * another one.
 */
export const serviceBase = (connection: string) => (inDesktop ? convertFileSrc(connection, "tapdesk") : "");

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
    phones: false,
    lan: [],
    listen_fixed: false,
    port_fixed: null,
    moved: null,
    lost: null,
    key_store: { kind: "file", text: "" },
    database: "",
    releases: { source: null, looked_at: null, found: null, problem: null },
  };
}

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
/** Starts with a new, empty database; the present one is renamed. */
export const createDatabase = () => shell<string>("start_afresh");
/** Restores a backup that the person chooses; returns its name, or null if they cancel. */
export const restoreBackup = (passphrase: string) => shell<string | null>("restore_backup", { passphrase });
/** The backups in a bucket, the newest first. */
export const bucketBackups = async (bucket: BucketForm) => (await shell<BucketBackup[]>("bucket_backups", { bucket })) ?? [];
/**
 * Downloads and restores the backup of this name in a bucket; `heard` is called with the number of bytes that have
 * arrived. The outcome is its name, or null if it was stopped before all of it was here.
 */
export function restoreFromBucket(
  bucket: BucketForm,
  name: string,
  passphrase: string,
  heard: (bytes: number) => void,
): { outcome: Promise<string | null | undefined>; stop: () => void } {
  if (!inDesktop) return { outcome: Promise.resolve(null), stop: () => undefined };
  const id = crypto.randomUUID();
  const channel = new Channel<number>();
  channel.onmessage = heard;
  return {
    outcome: shell<string | null>("restore_from_bucket", { id, bucket, name, passphrase, channel }),
    stop: () => void invoke("stop_download", { id }),
  };
}
/** Removes a backup that was downloaded from a bucket, and is kept while its passphrase is wrong. */
export const forgetBackup = () => shell<void>("forget_backup");
/** Rotates the key that wraps secrets; `heard` is called with the progress. */
export async function rotateKey(heard: (progress: RotationProgress) => void): Promise<void> {
  if (!inDesktop) return;
  const channel = new Channel<RotationProgress>();
  channel.onmessage = heard;
  await invoke("rotate_key", { channel });
}
/** Sets the port; null lets the system choose one. */
export const fixPort = (port: number | null) => shell<void>("fix_port", { port });
/** Stays on the present port permanently, although chips or labels led to an earlier one. */
export const keepPort = () => shell<void>("keep_port");
/** Allows phones of this network to reach the listener, or not. */
export const allowPhones = (allowed: boolean) => shell<void>("allow_phones", { allowed });
/** Sets where to look for newer versions of the desktop, and looks there; an empty URL ends it. */
export const chooseReleaseSource = (url: string, publicKey: string) => shell<void>("choose_release_source", { url, publicKey });
/** Looks for a newer version now; the state has the result. */
export const lookForRelease = () => shell<void>("look_for_release");
/** Connects the screens to another service. */
export const connect = (id: string) => shell<void>("connect", { id });
export const addConnection = (name: string, url: string, token: string) => shell<Connection>("add_connection", { name, url, token });
export const removeConnection = (id: string) => shell<void>("remove_connection", { id });
/** Reports to the shell whether closing the window would lose something. */
export const setUnsaved = (unsaved: boolean) => shell<void>("set_unsaved", { unsaved });

/** Scales the window's content, in percent of its normal size. */
export const setScale = (percent: number) => shell<void>("set_scale", { percent });

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

/** Saves a file of the service as it arrives; `null` in a browser, which has no shell. */
export function downloadFile(
  name: string,
  path: string,
  body: unknown,
  heard: (far: Downloaded) => void,
): { outcome: Promise<DownloadOutcome>; goOn: () => Promise<DownloadOutcome>; stop: () => void } | null {
  if (!inDesktop) return null;
  const id = crypto.randomUUID();
  const channel = () => {
    const told = new Channel<Downloaded>();
    told.onmessage = heard;
    return told;
  };
  return {
    outcome: invoke<DownloadOutcome>("download", { wanted: { id, connection: shown, name, path, body }, channel: channel() }),
    goOn: () => invoke<DownloadOutcome>("continue_download", { id, channel: channel() }),
    stop: () => void invoke("stop_download", { id }),
  };
}

/**
 * Subscribes to events until the returned function is called. `missed` is called when events may
 * have been missed, as after an interruption. The desktop continues until the next subscription,
 * which ends this one.
 */
export function onLiveEvent(heard: (event: LiveEvent) => void, missed: () => void): () => void {
  if (!inDesktop) {
    const source = new EventSource("/admin/v1/events?simulated=all");
    const hear = (message: MessageEvent<string>) => heard(JSON.parse(message.data) as LiveEvent);
    for (const name of ["interaction", "update", "submission", "inlay.encoded", "alert", "changed"]) source.addEventListener(name, hear);
    source.addEventListener("missed", missed);
    let interrupted = false;
    source.onerror = () => (interrupted = true);
    source.onopen = () => {
      if (interrupted) missed();
      interrupted = false;
    };
    return () => source.close();
  }
  let open = true;
  const channel = new Channel<LiveEvent | { event: "missed" }>();
  channel.onmessage = (event) => {
    if (!open) return;
    if (event.event === "missed") missed();
    else heard(event);
  };
  void invoke("live_events", { connection: shown, channel });
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

/**
 * Sends a tap to the connected service, or to the URL itself. `automatic` is the chip
 * of a tap that nobody clicked: the shell then sends it only to this service.
 */
export async function sendTap(url: string, to: Destination, automatic: ReadChip | null): Promise<SentTap> {
  if (!inDesktop) throw new Error("Only the desktop can send taps.");
  return invoke<SentTap>("send_tap", { connection: shown, url, to, automatic });
}

/**
 * Encodes the inlay of an insertion. `target` holds the members of a new encoding in the admin API.
 * The shell relays the service's commands; `heard` is called with each step.
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
  return invoke<EncodingProgress>("encode", { connection: shown, reader, insertion, target, channel });
}

/** The reasons why inlays cannot be read. */
export const readerDoctor = () => shell<DoctorFinding[]>("reader_doctor");

/** Whether readers neither beep nor show lights. */
export const quietReaders = () => shell<boolean>("quiet_readers");
/** Makes readers quiet, or lets them beep and show lights, from the next inlay on. */
export const setQuietReaders = (quiet: boolean) => shell<void>("set_quiet_readers", { quiet });

export const kioskSettings = () => shell<KioskOverview>("kiosk_settings");
/** Stores the settings; returns them as stored. */
export const kioskChoose = (chosen: KioskChoices) => shell<KioskChoices>("kiosk_choose", { chosen });
export const kioskSetPin = (pin: string) => shell<void>("kiosk_set_pin", { pin });
export const kioskRemovePicture = (name: string) => shell<void>("kiosk_remove_picture", { name });
/**
 * Shows the kiosk in place of this window. Refused if there are unsaved forms, unless `discard` is
 * set.
 */
export const kioskStart = (discard: boolean) => shell<void>("kiosk_start", { discard });

export async function kioskAddPicture(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  if (inDesktop) await invoke("kiosk_add_picture", bytes);
}
export async function kioskSetLogo(bytes: Uint8Array<ArrayBuffer>): Promise<void> {
  if (inDesktop) await invoke("kiosk_set_logo", bytes);
}
export const kioskRemoveLogo = () => shell<void>("kiosk_remove_logo");
