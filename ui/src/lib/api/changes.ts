// The changes that this window learns of: live events of the service, also about changes by others,
// and its own writes. Values of the cache are loaded again after those that concern them.

import type { LiveEvent } from "./types";

/** The parameters of a request, as far as they name the things that it is about. */
export interface About {
  id?: unknown;
  tag_id?: unknown;
  experience_id?: unknown;
  simulated?: unknown;
}

const firstOf = (path: string): string => path.split("/")[1] ?? "";

/** The parts of the API, by the first name in their paths, that an event concerns. */
const HEARD: Record<LiveEvent["event"], readonly string[]> = {
  interaction: ["interactions", "tags", "inlays", "simulator"],
  update: ["interactions", "tags"],
  submission: ["submissions"],
  "inlay.encoded": ["inlays", "tags", "encoding-root"],
  alert: [],
  sample: [],
  // These name what changed: see below.
  changed: [],
};

/** Whether an event may have changed the response of a path. */
export function eventConcerns(event: LiveEvent, path: string, about: About): boolean {
  const part = firstOf(path);
  if (event.event === "changed") {
    const isOther = event.kind === part && event.id !== null && about.id !== undefined && about.id !== event.id;
    return !isOther && writeConcerns(event.id === null ? `/${event.kind}` : `/${event.kind}/${event.id}`, path);
  }
  if (!HEARD[event.event].includes(part)) return false;
  const named: Record<string, unknown> = { ...event };
  // The simulator shows many inlays and tags, and real taps can be many.
  const isSimulated = part === "simulator" || about.simulated === "true";
  if (isSimulated && named.simulated === false) return false;
  const own = { tags: named.tag_id, interactions: named.interaction_id }[part];
  const agrees = (wanted: unknown, given: unknown) => wanted === undefined || given === undefined || wanted === given;
  return agrees(about.id, own) && agrees(about.tag_id, named.tag_id) && agrees(about.experience_id, named.experience_id);
}

/** Writes that change more than the part of the API that they belong to. */
const ALSO: [write: RegExp, parts: readonly string[]][] = [
  [/^\/groups/, ["tags", "interactions"]],
  [/^\/demo/, ["experiences", "tags", "inlays", "interactions", "submissions", "url-templates"]],
  [/^\/tags/, ["inlays", "interactions", "submissions"]],
  // Groups count their tags. Other parts of a tag, such as its properties, change no count.
  [/^\/tags(\/\d+|\/bulk|\/import)?(\?|$)/, ["groups"]],
  [/^\/(tags|factory-orders\/\d+)\/import/, ["tags", "inlays", "experiences", "url-templates"]],
  [/^\/(inlays|master-keys|simulator)/, ["tags", "inlays", "url-templates", "unlisted-chips"]],
  [/^\/(unlisted-chips|url-templates\/\d+\/unlisted)/, ["tags", "inlays", "url-templates", "unlisted-chips"]],
  [/^\/(encodings|encoding-runs|backup)/, ["encoding-root", "inlays"]],
  [/^\/encodings/, ["encoding-runs", "tags"]],
  // An erasure. An event of one interaction says that its trace has a new note, which can be often.
  [/^\/interactions(?!\/\d+$)/, ["submissions", "tags"]],
  [/^\/submissions/, ["interactions", "tags"]],
  [/^\/experiences/, ["submissions"]],
];

/** Whether a write to one path may have changed the response of another. */
export function writeConcerns(written: string, path: string): boolean {
  const part = firstOf(path);
  return firstOf(written) === part || ALSO.some(([write, parts]) => write.test(written) && parts.includes(part));
}

/** An event never removes data; a write may, and an erasure does. */
export type Kind = "event" | "write" | "erasure";

type Heard = (isConcerned: (path: string, about: About) => boolean, kind: Kind) => void;
const hearing = new Set<Heard>();
const announce: Heard = (...change) => [...hearing].forEach((heard) => heard(...change));

/** Calls `heard` with each change, until the returned function is called. */
export function onChange(heard: Heard): () => void {
  hearing.add(heard);
  return () => void hearing.delete(heard);
}

export const announceEvent = (event: LiveEvent): void => announce((path, about) => eventConcerns(event, path, about), "event");
/** Events may have been missed, so every response may have changed. */
export const announceMissed = (): void => announce(() => true, "event");
export const announceWrite = (written: string, erases = false): void =>
  announce((path) => writeConcerns(written, path), erases ? "erasure" : "write");
