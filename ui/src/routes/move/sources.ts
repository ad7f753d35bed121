// Additions to the import presets of the service, by their names, for owners who know the former
// service and not its formats.

import type { ImportPreset } from "../../lib/api/types";

/** The preset for tables of any origin. */
export const OWN_LIST = "csv";

interface Source {
  title: string;
  about: string;
}

const sources: Record<string, Source> = {
  bluebite: { title: "Blue Bite", about: "Short links with the id of the object, and its export of tags." },
  ixkio: { title: "ixkio", about: "Links with a tag code, and its downloads. The keys are in its encoding files." },
  gototags: { title: "GoToTags", about: "Links of the GoToTags cloud, and the operations of its Desktop App." },
  sdm_backend: { title: "sdm-backend", about: "Links with picc_data and cmac. It has one master key, and no list of chips." },
  boltcard: { title: "Bolt Card, LNbits", about: "Links with p and c. The table of cards has the keys of each." },
  [OWN_LIST]: { title: "Another service, or my own list", about: "Any URLs of chips, and a table of your own." },
};

/** The order of the choices: the own list is last, and an unknown service is before it. */
const order = ["bluebite", "ixkio", "gototags", "sdm_backend", "boltcard"];
const place = (name: string) => (name === OWN_LIST ? order.length + 1 : order.includes(name) ? order.indexOf(name) : order.length);

/** The choices for these presets. */
export const choicesOf = (presets: readonly Pick<ImportPreset, "name" | "title" | "about">[]): (Source & { name: string })[] =>
  presets
    .map(({ name, title, about }) => ({ name, ...(sources[name] ?? { title, about }) }))
    .sort((one, other) => place(one.name) - place(other.name));

const examples: Record<string, string> = {
  bluebite: "https://m.example.com/abc123?uid=04DE5F1EACC040&token=00003D94EED9EE65337086",
  ixkio: "https://shop.example.com/?x=AbC123xy&n=00003D&e=94EED9EE65337086",
  gototags: "https://go.example.com/n?uid=04DE5F1EACC040&ctr=00003D&cmac=94EED9EE65337086",
  sdm_backend: "https://sdm.example.com/tag?picc_data=EF963FF7828658A599F3041510671E88&cmac=94EED9EE65337086",
  boltcard: "lnurlw://cards.example.com/ln?p=EF963FF7828658A599F3041510671E88&c=94EED9EE65337086",
};

/** A URL as chips of the former service make it. */
export const exampleOf = (source: string): string => examples[source] ?? "https://tags.example.com/v?picc_data=EF96…&cmac=94EE…";
