// The palette's results from the service, of the kinds that the connection may see.

import { lookup } from "../../api/cache";
import { get } from "../../api/client";
import { Problem } from "../../api/problem";
import type { Submission } from "../../api/types";
import { chipName } from "../../inlays/technologies";
import { uidOf } from "../../inlays/uid";
import { tagName } from "../../tap/tagName";
import { count } from "../../format/format";
import { kindWords } from "../../groups/words";
import { groupAddress, orderAddress } from "../addresses";
import { rights } from "../../stores/rights.svelte";
import { demoWorld } from "../../window/demoWorld.svelte";
import { offersScreen } from "../../window/navigation";
import { router, type Screen } from "../../window/router.svelte";
import { contains, kinds, type Entry, type Group } from "./entries";
import { attributeWith, uidPart } from "./parts";

type Kind = keyof typeof kinds;

/** Most results of one kind; their screen shows more. */
const FEW = 8;
/** Most tags: they are what people search for most. */
const TAGS = 20;
/**
 * How many named things are loaded: they are searched here, because the service does not search
 * their names.
 */
const NAMED = 500;

const none = () => ({ items: [] });
const entry = (kind: Kind, id: number, screen: Screen, name: string, more: Partial<Entry> = {}): Entry => ({
  key: `${kind} ${id}`,
  name,
  icon: kinds[kind].icon,
  about: kinds[kind].name,
  run: () => router.go(screen, id, {}),
  ...more,
});

/** Calls `get` if the connection may see the screen. */
type Ask = <T>(screen: Screen, get: () => Promise<{ items: T[] }>) => Promise<{ items: T[] }>;

/** A kind that cannot be loaded has no results: `failed` is called with the reason, unless the token may not. */
const asking =
  (failed: (error: unknown) => void): Ask =>
  async (screen, get) => {
    if (!offersScreen(screen)) return none();
    return get().catch((error: unknown) => {
      if (!(error instanceof Problem && error.status === 403)) failed(error);
      return none();
    });
  };

/** Named things of kinds with few items, and the reason why some could not be loaded. */
async function named(): Promise<{ entries: (Entry & { words: string })[]; failure: unknown }> {
  let failure: unknown = null;
  const ask = asking((error) => (failure ??= error));
  const [templates, runs, orders, sheets] = await Promise.all([
    ask("templates", () => lookup("/url-templates", { limit: NAMED }).load()),
    ask("encode", () => lookup("/encoding-runs", { limit: NAMED }).load()),
    ask("encode", () => lookup("/factory-orders", { limit: NAMED }).load()),
    ask("sheets", () => lookup("/sheets", { limit: NAMED }).load()),
  ]);
  const open = (id: string) => ({ run: () => router.go("encode", id, {}) });
  const entries = [
    ...templates.items.map(({ id, name, template, technology }) => ({
      ...entry("templates", id, "templates", name, { about: chipName(technology) }),
      words: `${name} ${template}`,
    })),
    ...runs.items.map(({ id, name }) => ({ ...entry("runs", id, "encode", name), words: name })),
    ...orders.items.map(({ id, name }) => ({ ...entry("orders", id, "encode", name, open(orderAddress(id))), words: name })),
    ...sheets.items.map(({ id, name }) => ({ ...entry("sheets", id, "sheets", name), words: name })),
  ];
  return { entries, failure };
}

/** Whether a thing belongs to the world that the screens show. */
const isShown = ({ simulated }: { simulated: boolean }) => simulated === demoWorld.on;

/** An interaction, or a submission, by its number. */
async function numbered(q: string): Promise<Entry[]> {
  const id = Number(q.replace(/^(no\.?|#)\s*|[,\s]/gi, ""));
  if (!Number.isSafeInteger(id) || id < 1) return [];
  const [interaction, submission] = await Promise.all([
    offersScreen("interactions")
      ? lookup("/interactions/{id}", { id })
          .load()
          .catch(() => null)
      : null,
    offersScreen("submissions")
      ? lookup("/submissions/{id}", { id })
          .load()
          .catch(() => null)
      : null,
  ]);
  const entries: Entry[] = [];
  if (interaction) {
    if (isShown(interaction))
      entries.push(entry("interactions", id, "interactions", `Interaction ${count(id)}`, { about: tagName(interaction) }));
  }
  if (submission && isShown(submission)) entries.push(sent(submission));
  return entries;
}

const sent = (submission: Submission) =>
  entry("submissions", submission.id, "submissions", `Submission ${count(submission.id)}`, { about: tagName(submission) });

/** Removes duplicates: the first one stays. */
const once = (entries: Entry[]): Entry[] => entries.filter(({ key }, index) => entries.findIndex((one) => one.key === key) === index);

/** The results of a search. */
export interface Found {
  groups: Group[];
  /** The reason why some kind could not be searched; `null` if all were. */
  failure: unknown;
}

/**
 * A search for one opening of the palette: named things are loaded once. Results of typed words are
 * not kept: one for each letter would push the lists of the screens out of the cache.
 */
export function searching(): (q: string) => Promise<Found> {
  let names: ReturnType<typeof named> | null = null;
  return async (q) => {
    let failure: unknown = null;
    const ask = asking((error) => (failure ??= error));
    const [uid, part] = [uidOf(q), uidPart(q)];
    const [tags, groups, experiences, inlays, submissions, byName, byNumber, byPart] = await Promise.all([
      ask("tags", () => get("/tags", { q, limit: TAGS, simulated: demoWorld.simulated })),
      rights.seesGroups && !demoWorld.on ? ask("tags", () => get("/groups", { q, limit: FEW })) : none(),
      ask("experiences", () => get("/experiences", { q, limit: FEW })),
      ask("inlays", async () => (uid ? get("/inlays", { uid, simulated: demoWorld.on }) : none())),
      ask("submissions", () => get("/submissions", { q, limit: FEW, simulated: demoWorld.simulated })),
      (names ??= named()),
      numbered(q),
      ask("inlays", async () => (part ? get("/inlays", { uid_part: part, limit: FEW, simulated: demoWorld.on }) : none())),
    ]);
    if (byName.failure !== null) {
      // Each search that waited for them says it, and the next words load them again.
      names = null;
      failure ??= byName.failure;
    }
    const inlayEntries = [...inlays.items, ...byPart.items].map(({ id, uid, technology }) =>
      entry("inlays", id, "inlays", uid, { about: chipName(technology) }),
    );
    const of = (kind: Kind) => byName.entries.filter(({ key, words }) => key.startsWith(`${kind} `) && contains(words, q)).slice(0, FEW);
    const first = (kind: Kind) => byNumber.filter(({ key }) => key.startsWith(kind));
    const found: Group[] = [
      {
        title: "Tags",
        entries: tags.items.map((tag) => entry("tags", tag.id, "tags", tag.name, { slug: tag.slug, about: attributeWith(tag, q) })),
      },
      {
        title: "Groups",
        entries: groups.items.map(({ id, name, kind, code }) =>
          entry("groups", id, "tags", name, {
            about: [kindWords[kind].name, code].filter(Boolean).join(" "),
            run: () => router.go("tags", groupAddress(id), { group: String(id) }),
          }),
        ),
      },
      {
        title: "Experiences",
        entries: experiences.items.map(({ id, name, kind }) => entry("experiences", id, "experiences", name, { about: kind })),
      },
      { title: "Inlays", entries: once(inlayEntries).slice(0, FEW) },
      { title: "URL templates", entries: of("templates") },
      { title: "Interactions", entries: first("interactions") },
      {
        title: "Submissions",
        entries: [...first("submissions"), ...submissions.items.map(sent).filter(({ key }) => !byNumber.some((one) => one.key === key))],
      },
      { title: "Encoding runs", entries: of("runs") },
      { title: "Factory orders", entries: of("orders") },
      { title: "Test sheets", entries: of("sheets") },
    ];
    return { groups: found, failure };
  };
}
