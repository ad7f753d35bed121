// Guesses the meaning of columns by their headings in English, German, French and Spanish, if the
// service has no suggestion.

import { uidOf } from "../inlays/uid";
import { propertyOf, SERIAL } from "./choices";

/** A heading for comparisons: without case, accents and punctuation. */
export const plain = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll("ß", "ss")
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[^a-z0-9]+/g, " ")
    .trim();

/** Headings, normalised by `plain`, by the column that they mean. */
const meanings: Record<string, string[]> = {
  name: [
    ...["product", "product name", "item", "item name", "article"],
    ...["produkt", "produktname", "artikel", "artikelname", "bezeichnung", "artikelbezeichnung", "benennung"],
    ...["nom", "nom du produit", "produit", "designation", "libelle"],
    ...["nombre", "nombre del producto", "producto", "articulo", "denominacion"],
  ],
  title: ["titel", "uberschrift", "titre", "titulo"],
  description: ["beschreibung", "produktbeschreibung", "descriptif", "descripcion", "details"],
  slug: ["kurzlink", "kennung", "tag kennung", "identifiant", "identificador"],
  language_code: ["sprache", "langue", "idioma", "lengua"],
  status: ["zustand", "statut", "etat", "estado"],
  experience: ["erlebnis", "experiencia", "experience name", "erlebnisname"],
  group: ["group", "group path", "gruppe", "gruppenpfad", "groupe", "grupo"],
  uid: [
    // The service knows these, and suggests them for one column. A serial number of the product in
    // an earlier column may get that suggestion.
    ...["uid", "tag uid", "nfc id"],
    ...["chip id", "chip nummer", "chipnummer", "uid des chips", "chip uid", "nfc uid"],
    ...["uid de la puce", "uid puce", "numero de puce", "uid del chip", "numero de chip"],
  ],
  technology: ["chiptyp", "chip typ", "chipart", "type de puce", "tipo de chip"],
  last_counter: [
    "zahler",
    "zaehler",
    "zahlerstand",
    "zaehlerstand",
    "letzter zahler",
    "compteur",
    "dernier compteur",
    "contador",
    "ultimo contador",
  ],
  [SERIAL]: [
    ...["serial", "serial number", "serial no", "serial nr", "sn", "s n"],
    ...["seriennummer", "serien nr", "seriennr", "fabriknummer"],
    ...["numero de serie", "n de serie", "no de serie", "num serie", "serie"],
  ],
};

/** Headings of properties that identify or describe things: their name is the heading. */
const properties: Record<string, string[]> = {
  attribute: [
    "batch",
    "lot",
    "charge",
    "chargennummer",
    "lote",
    "sku",
    "artikelnummer",
    "artikel nr",
    "reference",
    "referencia",
    "ean",
    "gtin",
  ],
  data: [
    ...["colour", "color", "farbe", "couleur"],
    ...["size", "grosse", "groesse", "taille", "talla", "tamano"],
    ...["material", "materiau", "matiere", "brand", "marke", "marque", "marca"],
    ...["manufacturer", "hersteller", "fabricant", "fabricante"],
    ...["vintage", "jahrgang", "millesime", "anada", "weight", "gewicht", "poids", "peso"],
  ],
};

const has = (lists: Record<string, string[]>, heading: string) => Object.keys(lists).find((one) => lists[one]?.includes(plain(heading)));

const isUid = (cell: string) => uidOf(cell) !== null;

/** The likely column of a heading, for a person to confirm; empty if none is likely. */
function guess(heading: string, cells: readonly string[]): string {
  const meaning = has(meanings, heading);
  if (meaning === SERIAL) return cells.length > 0 && cells.every(isUid) ? "uid" : SERIAL;
  if (meaning) return meaning;
  const kind = has(properties, heading);
  return kind ? `${kind}:${propertyOf(heading)}` : "";
}

export interface Heading {
  heading: string;
  /** The column that the service suggests. */
  column?: string | null;
  /** The first values of the column that are not empty. */
  cells: readonly string[];
}

/** The meanings of a file's columns, each at most once. The service's suggestions come first. */
export function meaningsOf(headings: readonly Heading[]): string[] {
  // "Serial number" can refer to the chip or to the product: the values decide.
  const suggested = headings.map(({ heading, column, cells }) =>
    column === "uid" && has(meanings, heading) === SERIAL && !cells.every(isUid) ? "" : (column ?? ""),
  );
  const taken = new Set(suggested);
  return headings.map(({ heading, cells }, index) => {
    if (suggested[index]) return suggested[index];
    const guessed = guess(heading, cells);
    if (taken.has(guessed)) return "";
    taken.add(guessed);
    return guessed;
  });
}
