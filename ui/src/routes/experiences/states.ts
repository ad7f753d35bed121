// The typical states of a page: "First tap", "Registered", "Not verified". They come from the
// conditions of the page, or from the rules of a redirect.

import type { Block, OperatingSystem, Rule, Tamper, Tech, VerificationState, When } from "../../lib/api/types";
import { groups } from "../../lib/groups/groups.svelte";
import { sealWords } from "../../lib/inlays/seals";
import { variablesOf } from "./content";
import { nameOfCode, sentence, systems, technologies, variableWords } from "./whenWords";

/** The part of a tap that conditions depend on. */
export interface StateTap {
  verification: VerificationState;
  variables: Record<string, string>;
  scan_count?: number;
  tamper?: Tamper;
  language?: string;
  country?: string;
  technology?: Tech;
  visitor_group?: number;
  operating_system?: OperatingSystem;
  group_id?: number;
}

export interface PageState {
  key: string;
  name: string;
  tap: StateTap;
  /** Whether its name comes from the page: such states are shown first. */
  known: boolean;
}

export interface States {
  all: PageState[];
  /**
   * The state that shows the blocks of a list, by the position of the list, such as `2.otherwise.`.
   */
  of: Record<string, string>;
}

/** The longest name that is taken from the page. */
const LONGEST = 24;

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Every list of blocks of the page, including those in conditions. */
function* listsOf(blocks: Block[]): Generator<Block[]> {
  yield blocks;
  for (const block of blocks) {
    if (block.type !== "condition") continue;
    yield* listsOf(block.blocks);
    yield* listsOf(block.otherwise ?? []);
  }
}

const allOf = (blocks: Block[]): Block[] => [...listsOf(blocks)].flat();

/** The values that the variables are compared with. */
function comparedWith(whens: When[]): Record<string, string[]> {
  const values: Record<string, string[]> = {};
  for (const when of whens)
    if (when.type === "variable_equals" || when.type === "variable_differs") (values[when.variable] ??= []).push(when.value);
  return values;
}

/** The initial value of a variable: 0 for a count, false for a yes or no, otherwise empty. */
function initial(compared: string[] = []): string {
  if (compared.length > 1 && compared.every((value) => /^\d+$/.test(value))) return String(Math.min(...compared.map(Number)));
  return compared.includes("true") ? "false" : "";
}

const EXAMPLES: [RegExp, string][] = [
  [/mail/, "ada@example.com"],
  [/name|owner|guest|_by$|who/, "Ada Lovelace"],
  [/bought|date|_on$|when/, "May 2026"],
  [/where|place|found|city/, "Bern"],
  [/phone|contact/, "+41 31 000 00 00"],
];

/** A typical visitor's input. */
const example = (key: string): string => EXAMPLES.find(([pattern]) => pattern.test(key))?.[1] ?? "yes";

/** The values that a visitor sends with the forms and buttons that write a variable. */
function entered(blocks: Block[], variable: string): Record<string, string> {
  for (const block of allOf(blocks)) {
    if (block.type === "form" && block.fields.some((field) => field.variable === variable))
      return Object.fromEntries(
        block.fields.map(({ variable: key, kind, choices }) => [
          key,
          kind === "choice"
            ? (choices?.[0] ?? "")
            : kind === "checkbox" || kind === "consent"
              ? "true"
              : kind === "number"
                ? "3"
                : kind === "email"
                  ? "ada@example.com"
                  : example(key),
        ]),
      );
    if (block.type === "variable_button" && block.variable === variable) return { [variable]: block.value || "yes" };
  }
  return { [variable]: example(variable) };
}

/** The text without macros at the beginning of a list of blocks. */
function titleOf(blocks: Block[]): string | null {
  const first = blocks.find(({ type }) => type === "notice") ?? blocks[0];
  const text = first?.type === "notice" ? first.title : first?.type === "heading" ? first.text : "";
  return text && text.length <= LONGEST && !text.includes("{{") ? text : null;
}

class Finder {
  readonly all: PageState[] = [];
  readonly of: Record<string, string> = {};
  readonly base: StateTap;
  readonly #compared: Record<string, string[]>;

  constructor(
    readonly blocks: Block[],
    whens: When[],
    variables: string[],
  ) {
    this.#compared = comparedWith(whens);
    const start = Object.fromEntries(variables.map((key) => [key, initial(this.#compared[key])]));
    this.base = { verification: "verified", variables: start, scan_count: 1 };
    this.#add("First tap", this.base, true);
  }

  #add(name: string, tap: StateTap, known: boolean): string {
    const same = this.all.find((one) => JSON.stringify(one.tap) === JSON.stringify(tap));
    if (same) {
      if (known && !same.known && same.key !== "0") Object.assign(same, { name, known });
      return same.key;
    }
    const twin = this.all.filter((one) => one.name === name || one.name.startsWith(`${name} (`)).length;
    const key = String(this.all.length);
    this.all.push({ key, name: twin > 0 ? `${name} (${twin + 1})` : name, tap, known });
    return key;
  }

  /** A tap for which a condition holds, or not; null if no preview can produce one. */
  tap(when: When, holds: boolean, from: StateTap): StateTap | null {
    const set = (values: Record<string, string>) => ({ ...from, variables: { ...from.variables, ...values } });
    switch (when.type) {
      case "variable_equals":
      case "variable_differs": {
        const equal = (when.type === "variable_equals") === holds;
        const now = from.variables[when.variable] ?? "";
        if (equal) return set({ [when.variable]: when.value });
        return now !== when.value ? from : set({ [when.variable]: when.value === "true" ? "false" : when.value === "" ? "yes" : "" });
      }
      case "variable_empty":
      case "variable_filled": {
        const filled = (when.type === "variable_filled") === holds;
        const now = from.variables[when.variable] ?? "";
        if (filled) return now ? from : set(entered(this.blocks, when.variable));
        return now ? set({ [when.variable]: "" }) : from;
      }
      case "verification": {
        const wanted = (["verified", "not_verified", "not_checked"] as const).filter((one) => when.any_of.includes(one) === holds);
        const to = wanted.includes(from.verification) ? from.verification : wanted[0];
        return to ? { ...from, verification: to } : null;
      }
      case "scan_count": {
        const { at_least: least, at_most: most } = when;
        const now = from.scan_count ?? 1;
        const met = (count: number) => (least == null || count >= least) && (most == null || count <= most);
        const count = [now, least ?? 1, (most ?? 0) + 1, (least ?? 1) - 1].find((one) => one >= 0 && met(one) === holds);
        return count === undefined ? null : { ...from, scan_count: count };
      }
      case "tamper":
        if (!holds) return from;
        return when.any_of[0] ? { ...from, tamper: when.any_of[0] } : null;
      case "group": {
        if (!holds) return from;
        const there = when.any_of.find((id) => !groups.isGone(id));
        return there === undefined ? null : { ...from, group_id: there };
      }
      case "language":
        if (!holds) return from;
        return when.any_of[0] ? { ...from, language: when.any_of[0] } : null;
      case "country":
        if (!holds) return from;
        return when.any_of[0]?.length === 2 ? { ...from, country: when.any_of[0] } : null;
      case "operating_system":
        if (!holds) return from;
        return when.any_of[0] ? { ...from, operating_system: when.any_of[0] } : null;
      case "technology":
        if (!holds) return from;
        return when.any_of[0] ? { ...from, technology: when.any_of[0] } : null;
      case "split": {
        const group = from.visitor_group ?? 0;
        const met = (one: number) => one >= when.from && one < when.until;
        const to = [group, when.from, when.until, 0].find((one) => one >= 0 && one < 100 && met(one) === holds);
        return to === undefined ? null : { ...from, visitor_group: to };
      }
      default:
        return null;
    }
  }

  /** The state in which a condition holds, or not, with its key. */
  state(when: When, holds: boolean, from: StateTap, blocks: Block[]): { key: string; tap: StateTap } | null {
    const tap = this.tap(when, holds, from);
    if (!tap) return null;
    const [name, known] = nameOf(when, holds, tap, blocks, this.blocks);
    return { key: this.#add(name, tap, known), tap };
  }

  walk(blocks: Block[], from: StateTap, within: string): void {
    blocks.forEach((block, index) => {
      if (block.type !== "condition") return;
      for (const [part, list, holds] of [
        ["blocks", block.blocks, true],
        ["otherwise", block.otherwise ?? [], false],
      ] as const) {
        // If a condition has no blocks on one side, that side looks like the page around it.
        if (!holds && list.length === 0 && !isOpposite(block.when, from, this)) continue;
        const found = this.state(block.when, holds, from, list);
        if (!found) continue;
        const place = `${within}${index}.${part}.`;
        this.of[place] = found.key;
        this.walk(list, found.tap, place);
      }
    });
  }

  end(): States {
    for (const verification of [
      "not_verified",
      ...(this.all.some(({ tap }) => tap.verification === "not_checked") ? ["not_checked" as const] : []),
    ] as const)
      this.#add(verification === "not_verified" ? "Not verified" : "Not checked", { ...this.base, verification }, true);
    // The first tap comes first, and states that are not verified come last.
    const last = this.all.filter(({ tap }) => tap.verification !== "verified");
    const first = this.all.filter(({ tap }) => tap.verification === "verified");
    return { all: [...first.filter(({ known }) => known), ...first.filter(({ known }) => !known), ...last], of: this.of };
  }
}

/**
 * Whether the page around the condition already meets it, so that its opposite is a typical state.
 */
const isOpposite = (when: When, from: StateTap, finder: Finder): boolean => {
  const isKnown = !when.type.startsWith("variable") || !("value" in when) || when.value === "true";
  return isKnown && JSON.stringify(finder.tap(when, true, from)) === JSON.stringify(from);
};

/** The name of a state, and whether it comes from the page. */
function nameOf(when: When, holds: boolean, tap: StateTap, list: Block[], page: Block[]): [name: string, known: boolean] {
  if (when.type === "verification") {
    const names: Record<VerificationState, string> = { verified: "Verified", not_verified: "Not verified", not_checked: "Not checked" };
    return [names[tap.verification], true];
  }
  const title = titleOf(list);
  if (title && when.type.startsWith("variable")) return [title, true];
  switch (when.type) {
    case "variable_equals":
      if (when.value === "true" || when.value === "false")
        return [(when.value === "true") === holds ? capital(variableWords(when.variable)) : `Not ${variableWords(when.variable)}`, true];
      break;
    case "variable_filled":
    case "variable_empty": {
      const sent = (when.type === "variable_filled") === holds;
      const ofForm = allOf(page).some((block) => block.type === "form" && block.fields.some(({ variable }) => variable === when.variable));
      if (ofForm) return [sent ? "Form sent" : "Form not sent", true];
      break;
    }
    case "tamper":
      if (tap.tamper) return [capital(`seal ${sealWords(tap.tamper)}`), true];
      break;
    case "group":
      if (tap.group_id) return [`In ${groups.name(tap.group_id)}`, true];
      break;
    case "language":
      if (tap.language) return [nameOfCode("language", tap.language), true];
      break;
    case "country":
      if (tap.country) return [nameOfCode("region", tap.country), true];
      break;
    case "technology":
      if (tap.technology) return [technologies.find(([one]) => one === tap.technology)?.[1] ?? "", true];
      break;
    case "operating_system":
      if (tap.operating_system) return [systems.find(([one]) => one === tap.operating_system)?.[1] ?? "", true];
      break;
    case "scan_count":
      return [`Tap ${tap.scan_count ?? 1}`, true];
    case "split":
      return [`Visitors from ${tap.visitor_group ?? 0}%`, true];
  }
  const text = sentence(when).replace(/^the /, "");
  return [capital(holds ? text : `not: ${text}`), false];
}

/** The states of a page. */
export function statesOfPage(blocks: Block[]): States {
  const whens = allOf(blocks).flatMap((block) => (block.type === "condition" ? [block.when] : []));
  const finder = new Finder(blocks, whens, variablesOf(blocks));
  finder.walk(blocks, finder.base, "");
  return finder.end();
}

/** The states of a redirect: the first tap, and one for each rule. */
export function statesOfRules(rules: Rule[]): States {
  const whens = rules.flatMap(({ when }) => when);
  const variables = whens.flatMap((when) => ("variable" in when ? [when.variable] : []));
  const finder = new Finder([], whens, [...new Set(variables)]);
  for (const rule of rules) {
    let tap: StateTap | null = finder.base;
    for (const when of rule.when) tap = tap && (finder.state(when, true, tap, [])?.tap ?? null);
  }
  return finder.end();
}
