// The content of an experience in the editor, and its edits.

import type { Block, Experience, FieldKind, FormField, Rule, Theme, When } from "../../lib/api/types";

export interface Content {
  name: string;
  target_url: string;
  rules: Rule[];
  blocks: Block[];
  theme: Theme;
}

/** An editable copy of the draft of an experience. */
export function storedOf(experience: Experience): Content {
  const content = experience as unknown as Partial<Content>;
  return structuredClone({
    name: experience.name,
    target_url: content.target_url ?? "",
    rules: content.rules ?? [],
    blocks: content.blocks ?? [],
    theme: content.theme ?? {},
  });
}

export type Kind = Experience["kind"];

/** The content of a draft, in the form of a preview. */
export const contentOf = (kind: Kind, { target_url, rules, blocks, theme }: Content) =>
  kind === "redirect" ? { kind, target_url, rules } : { kind, blocks, theme };

const noTheme: Record<keyof Theme, null> = {
  scheme: null,
  accent: null,
  background: null,
  background_dark: null,
  font: null,
  corners: null,
  logo: null,
};

/** The merge patch for the edits. Members that the theme no longer has are deleted. */
export const patchOf = ({ rules, theme, ...plain }: Partial<Content>) => ({
  ...plain,
  ...(rules && { rules: rules.length > 0 ? rules : null }),
  ...(theme && { theme: { ...noTheme, ...theme } }),
});

export type BlockType = Block["type"];

/** The blocks in the order of the menu, with their names. */
export const blockTypes: [type: BlockType, name: string][] = [
  ["heading", "Heading"],
  ["text", "Text"],
  ["image", "Image"],
  ["notice", "Notice"],
  ["table", "Table"],
  ["button", "Button"],
  ["form", "Form"],
  ["variable_button", "Variable button"],
  ["progress", "Progress"],
  ["video", "Video"],
  ["divider", "Divider"],
  ["condition", "Condition"],
];

export const nameOf = (type: BlockType) => blockTypes.find(([known]) => known === type)?.[1] ?? type;

export const newField = (): FormField => ({ label: "Your name", kind: "text", variable: "name", required: true });

/** A new block. It can be saved as it is, except an image without a picture. */
export function newBlock(type: BlockType): Block {
  switch (type) {
    case "heading":
      return { type, text: "{{ tag:title || tag:name }}" };
    case "text":
      return { type, text: "" };
    case "image":
      return { type, image_id: 0, alt: "" };
    case "notice":
      return { type, tone: "good", title: "Done" };
    case "table":
      return { type, rows: [{ key: "Article", value: "{{ tag:attribute:sku }}" }] };
    case "button":
      return { type, label: "Go to the shop", url: "https://example.com/" };
    case "form":
      return { type, fields: [newField()], submit_label: "Send" };
    case "variable_button":
      return { type, label: "This is mine", variable: "registered", value: "true" };
    case "progress":
      return { type, label: "Stamps", value: "{{ tag:variable:stamps }}", of: 10 };
    case "video":
      return { type, label: "How it works", url: "https://example.com/film" };
    case "divider":
      return { type };
    case "condition":
      return { type, when: newWhen("variable_equals"), blocks: [] };
  }
}

export type WhenType = When["type"];

export const whenTypes: [type: WhenType, name: string][] = [
  ["variable_equals", "a variable is"],
  ["variable_differs", "a variable is not"],
  ["variable_empty", "a variable is empty"],
  ["variable_filled", "a variable is not empty"],
  ["verification", "the tap is"],
  ["counter", "the counter"],
  ["tamper", "the seal is"],
  ["scan_count", "the number of taps is"],
  ["group", "the tag is in"],
  ["language", "the language is"],
  ["country", "the country is"],
  ["operating_system", "the phone runs"],
  ["technology", "the tag was scanned by"],
  ["split", "the visitor is in a share"],
  ["time", "the time is"],
];

export function newWhen(type: WhenType): When {
  switch (type) {
    case "variable_equals":
    case "variable_differs":
      return { type, variable: "registered", value: "true" };
    case "variable_empty":
    case "variable_filled":
      return { type, variable: "registered" };
    case "verification":
      return { type, any_of: ["verified"] };
    case "counter":
      return { type, any_of: ["repeated"] };
    case "tamper":
      return { type, any_of: ["open", "reclosed"] };
    case "scan_count":
      return { type, at_least: 2 };
    case "group":
      // There is no group to begin with: the owner chooses one.
      return { type, any_of: [] };
    case "language":
      return { type, any_of: ["en"] };
    case "country":
      return { type, any_of: ["DE"] };
    case "operating_system":
      return { type, any_of: ["ios"] };
    case "technology":
      return { type, any_of: ["q"] };
    case "split":
      return { type, from: 0, until: 50 };
    case "time":
      return { type, from: new Date().toISOString().slice(0, 11) + "00:00:00Z" };
  }
}

/** The pattern of a variable's name, as an attribute of its field. */
export const variableName = "[A-Za-z0-9_.\\-]{1,64}";

export const fieldKinds: [kind: FieldKind, name: string][] = [
  ["text", "Single line"],
  ["multiline", "Multiple lines"],
  ["email", "Email address"],
  ["number", "Number"],
  ["choice", "Choice"],
  ["checkbox", "Checkbox"],
  ["consent", "Consent"],
];

/** The list with the item at `index` one place up (`-1`) or down (`1`). */
export function moved<T>(list: T[], index: number, by: -1 | 1): T[] {
  const other = index + by;
  if (other < 0 || other >= list.length) return list;
  const copy = [...list];
  [copy[index], copy[other]] = [copy[other]!, copy[index]!];
  return copy;
}

/** The list with `item` at `index`, or at its end if it is shorter now. */
export const inserted = <T>(list: T[], index: number, item: T): T[] => [...list.slice(0, index), item, ...list.slice(index)];

/** The variables that a page writes or reads in conditions: tags with this page need them. */
export function variablesOf(blocks: Block[]): string[] {
  const found = new Set<string>();
  const look = (list: Block[]) => {
    for (const block of list) {
      if (block.type === "form") for (const field of block.fields) found.add(field.variable);
      if (block.type === "variable_button") found.add(block.variable);
      if (block.type === "condition") {
        if ("variable" in block.when) found.add(block.when.variable);
        look(block.blocks);
        look(block.otherwise ?? []);
      }
    }
  };
  look(blocks);
  return [...found].sort();
}
