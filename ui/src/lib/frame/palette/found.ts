// What the palette finds in the service: of the kinds that the connection may see.

import { get } from "../../api/client";
import type { Submission } from "../../api/types";
import { chipName } from "../../inlays/technologies";
import { uidOf } from "../../inlays/uid";
import { count } from "../../ui/format";
import { orderAddress } from "../addresses";
import { offersScreen } from "../navigation";
import { router, type Screen } from "../router.svelte";
import { contains, kinds, type Entry, type Group } from "./entries";

type Kind = keyof typeof kinds;

/** The most of one kind: more than that are found on the screen of their kind. */
const FEW = 8;
/** How many things with names are asked for: they are found here, since the service does not search in their names. */
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

/** Asks `get` if the connection may see the screen. A kind that cannot be loaded has none. */
const ask = <T>(screen: Screen, get: () => Promise<{ items: T[] }>) => (offersScreen(screen) ? get().catch(none) : none());

/** Things with names, of kinds of which there are few. */
async function named(): Promise<(Entry & { words: string })[]> {
  const [templates, runs, orders, sheets] = await Promise.all([
    ask("templates", () => get("/url-templates", { limit: NAMED })),
    ask("encode", () => get("/encoding-runs", { limit: NAMED })),
    ask("encode", () => get("/factory-orders", { limit: NAMED })),
    ask("sheets", () => get("/sheets", { limit: NAMED })),
  ]);
  const open = (id: string) => ({ run: () => router.go("encode", id, {}) });
  return [
    ...templates.items.map(({ id, name, template, technology }) => ({
      ...entry("templates", id, "templates", name, { about: chipName(technology) }),
      words: `${name} ${template}`,
    })),
    ...runs.items.map(({ id, name }) => ({ ...entry("runs", id, "encode", name), words: name })),
    ...orders.items.map(({ id, name }) => ({ ...entry("orders", id, "encode", name, open(orderAddress(id))), words: name })),
    ...sheets.items.map(({ id, name }) => ({ ...entry("sheets", id, "sheets", name), words: name })),
  ];
}

/** An interaction, or a submission, by its number. */
async function numbered(q: string): Promise<Entry[]> {
  const id = Number(q.replace(/^(no\.?|#)\s*|[,\s]/gi, ""));
  if (!Number.isSafeInteger(id) || id < 1) return [];
  const [interaction, submission] = await Promise.all([
    offersScreen("interactions") ? get("/interactions/{id}", { id }).catch(() => null) : null,
    offersScreen("submissions") ? get("/submissions/{id}", { id }).catch(() => null) : null,
  ]);
  const entries: Entry[] = [];
  if (interaction) {
    const { tag_name, simulated } = interaction;
    const run = () => router.go("interactions", id, simulated ? { simulated: "true" } : {});
    entries.push(entry("interactions", id, "interactions", `Interaction ${count(id)}`, { about: tag_name ?? "No tag", run }));
  }
  if (submission) entries.push(sent(submission));
  return entries;
}

const sent = ({ id, tag_name }: Submission) => entry("submissions", id, "submissions", `Submission ${count(id)}`, { about: tag_name });

/** A search for as long as the palette is open: what has names is fetched once. */
export function searching(): (q: string) => Promise<Group[]> {
  let names: ReturnType<typeof named> | null = null;
  return async (q) => {
    const uid = uidOf(q);
    const [tags, experiences, inlays, submissions, byName, byNumber] = await Promise.all([
      ask("tags", () => get("/tags", { q, limit: FEW })),
      ask("experiences", () => get("/experiences", { q, limit: FEW })),
      ask("inlays", async () => (uid ? get("/inlays", { uid }) : none())),
      ask("submissions", () => get("/submissions", { q, limit: FEW })),
      (names ??= named()),
      numbered(q),
    ]);
    const of = (kind: Kind) => byName.filter(({ key, words }) => key.startsWith(`${kind} `) && contains(words, q)).slice(0, FEW);
    const first = (kind: Kind) => byNumber.filter(({ key }) => key.startsWith(kind));
    return [
      { title: "Tags", entries: tags.items.map(({ id, name, slug }) => entry("tags", id, "tags", name, { slug, about: undefined })) },
      {
        title: "Experiences",
        entries: experiences.items.map(({ id, name, kind }) => entry("experiences", id, "experiences", name, { about: kind })),
      },
      {
        title: "Inlays",
        entries: inlays.items.map(({ id, uid, technology }) => entry("inlays", id, "inlays", uid, { about: chipName(technology) })),
      },
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
  };
}
