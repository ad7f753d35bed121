import { beforeEach, expect, test, vi } from "vitest";
import type { UrlTemplate } from "../api/types";
import type { ShellState } from "../shell/desktop";
import { shell } from "../shell/shell.svelte";
import { Draft } from "../ui/draft.svelte";
import { saveRule } from "./rule";
import { unlistedFields } from "./unlisted";

vi.mock("../shell/desktop", () => ({ serviceBase: (connection: string) => `tapdesk://localhost/${connection}` }));

const stored = { unlisted: "refuse", experience_id: null, group_id: null, create_limit: 10_000 } as UrlTemplate;
const sent: string[] = [];
/** The errors of the request with this method, by field. */
let refused: Record<string, Record<string, string>>;

beforeEach(() => {
  shell.state = { phase: "ready", connection: { id: "embedded" } } as ShellState;
  sent.length = 0;
  refused = {};
  vi.stubGlobal("fetch", async (address: string, { method, body }: RequestInit) => {
    sent.push(`${method} ${address.replace(/^.*\/admin\/v1/, "")} ${String(body)}`);
    const errors = Object.entries(refused[method!] ?? {}).map(([field, message]) => ({ field, message }));
    if (errors.length === 0) return Response.json({ ...stored, ...JSON.parse(String(body)) });
    return Response.json({ code: "invalid", detail: errors[0]!.message, errors }, { status: 422 });
  });
});

/** A form with the rule “Show a page”, and its save with a master key. */
function edited(master = "") {
  const draft = new Draft(unlistedFields(stored));
  draft.form.unlisted = "page";
  const save = () => draft.save(async (changes) => unlistedFields(await saveRule(7, changes, { master, shared: " 00ff " })));
  return { draft, save };
}

test("a master key is stored before the rule, and a file key with it", async () => {
  const { draft, save } = edited("3");
  expect(await save()).toBe(true);
  expect(sent).toEqual([
    `POST /url-templates/7/meta-keys ${JSON.stringify({ master_key_ids: [3] })}`,
    `PATCH /url-templates/7 ${JSON.stringify({ unlisted: "page", shared_file_key: "00ff" })}`,
  ]);
  expect(draft.general).toBe(null);
});

test("a rule that lacks a shared meta key is refused in the words of the form", async () => {
  const { draft, save } = edited();
  refused = { PATCH: { meta_keys: "Unlisted chips need a shared meta key: add meta_keys or set unlisted to “refuse” first." } };
  expect(await save()).toBe(false);
  expect(draft.general).toMatch(/Add one under “Shared meta keys” of the URL template, or choose “Refuse”\.$/);
  expect(draft.general).not.toContain("meta_keys");
  expect(draft.form.unlisted).toBe("page");
  // Beside an error that a field of the form shows.
  refused.PATCH!.create_limit = "create_limit is a number from 1 to 1000000.";
  expect(await save()).toBe(false);
  expect(draft.wrong).toEqual({ create_limit: "create_limit is a number from 1 to 1000000." });
  expect(draft.general).toContain("“Shared meta keys”");
});

test("a master key that shares no meta key is refused in the words of the form, others in the service's", async () => {
  const { draft, save } = edited("3");
  refused = { POST: { master_key_ids: "None is shared. Send the shared one in meta_keys." } };
  expect(await save()).toBe(false);
  expect(draft.general).toMatch(/^This master key gives each chip a meta key of its own/);
  expect(sent).toHaveLength(1);
  const many = "A template has at most 64 shared meta keys: this would be 65.";
  refused = { POST: { meta_keys: many } };
  expect(await save()).toBe(false);
  expect(draft.general).toBe(many);
});
