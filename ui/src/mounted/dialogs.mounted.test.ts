import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { tick } from "svelte";
import { userEvent } from "vitest/browser";
import { cleanup, render } from "vitest-browser-svelte";
import { removeConnection, saveFile, type ShellState } from "../lib/shell/desktop";
import { shell } from "../lib/shell/shell.svelte";
import { kept } from "../lib/window/kept";
import LeftDrafts from "../lib/frame/LeftDrafts.svelte";
import { notices } from "../lib/window/notices.svelte";
import { router } from "../lib/window/router.svelte";
import SealKeys from "../routes/encode/orders/SealKeys.svelte";
import Connections from "../routes/settings/Connections.svelte";
import FindFormat from "../routes/move/FindFormat.svelte";
import About from "../routes/settings/About.svelte";
import ErasePerson from "../routes/submissions/ErasePerson.svelte";
import NewTag from "../routes/tags/NewTag.svelte";
import { rights } from "../lib/stores/rights.svelte";
import type { CurrentToken, Group } from "../lib/api/types";
import { drafts } from "../lib/ui/drafts.svelte";
import NameForm from "./NameForm.svelte";

vi.mock("../lib/shell/desktop", { spy: true });

const shop = { id: "shop", name: "Shop", kind: "remote", url: "https://shop.example.com" };
const here = { id: "embedded", name: "This computer", kind: "embedded", url: "" };
const connect = (connection: object) => (shell.state = { phase: "ready", connection, connections: [here, shop] } as unknown as ShellState);
const json = (value: unknown) => new Response(JSON.stringify(value));
const said = () => notices.shown.map(({ text }) => text);
let answer: (address: string, body: string) => Response;

beforeEach(() => {
  connect(here);
  answer = () => json({ items: [], next: null });
  vi.spyOn(window, "fetch").mockImplementation(async (address, init) => answer(String(address), String(init?.body ?? "")));
});
afterEach(async () => {
  await cleanup();
  vi.restoreAllMocks();
  for (const { connection } of [...drafts.unsaved]) drafts.dropAll(connection);
  for (const { id } of notices.shown) notices.dismiss(id);
  // Rights are those of a connection.
  rights.token = null;
  shell.state = { phase: "starting" };
  location.hash = "";
});

test("a dialog has the focus before the next frame, so that no key goes to the screen behind it", async () => {
  vi.spyOn(window, "requestAnimationFrame").mockReturnValue(0);
  await render(NewTag, { oncreated: async () => undefined });
  router.filter({ new: "tag" });
  await tick();
  expect(document.querySelector("[role=dialog]")?.contains(document.activeElement)).toBe(true);
});

test("a new tag of a token that is limited to several groups comes into the one that is chosen", async () => {
  const groups = [3, 5].map((id) => ({
    id,
    parent_id: null,
    kind: "batch",
    name: `Lot ${id}`,
    status: "active",
    tag_count: 0,
    attributes: {},
  }));
  const sent: unknown[] = [];
  answer = (address, body) => {
    if (body) sent.push(JSON.parse(body));
    return json(address.includes("/groups?") ? { items: groups as unknown as Group[], next: null } : { id: 41, items: [], next: null });
  };
  rights.token = { scopes: ["tags"], experience_ids: null, group_ids: [3, 5] } as unknown as CurrentToken;
  const dialog = await render(NewTag, { oncreated: async () => undefined });
  router.filter({ new: "tag" });
  await dialog.getByLabelText("Name").fill("Bottle 41");
  await expect.element(dialog.getByRole("button", { name: "Create" })).toBeDisabled();
  await userEvent.keyboard("{Enter}");
  expect(sent).toEqual([]);
  await dialog.getByRole("button", { name: "Group: Choose a group" }).click();
  await expect.element(dialog.getByRole("button", { name: "Choose", exact: true })).toBeDisabled();
  await dialog.getByRole("treeitem", { name: "Lot 5" }).click();
  await dialog.getByRole("button", { name: "Choose", exact: true }).click();
  await expect.element(dialog.getByRole("button", { name: "Group: Lot 5" })).toBeVisible();
  await dialog.getByRole("button", { name: "Create" }).click();
  await vi.waitFor(() => expect(sent).toEqual([{ name: "Bottle 41", experience_id: null, group_id: 5 }]));
});

test("Escape leaves what was typed in a dialog among the unsaved forms, with the way back", async () => {
  const left = await render(LeftDrafts);
  router.go("tags", null, {});
  const dialog = await render(NewTag, { oncreated: async () => undefined });
  await vi.waitFor(() => expect(router.place.screen).toBe("tags"));
  expect(said()).toEqual([]);
  router.filter({ new: "tag" });
  await dialog.getByLabelText("Name").fill("Bottle 41");
  expect(left.getByRole("button", { name: "1 unsaved form" }).query()).toBeNull();
  await userEvent.keyboard("{Escape}");
  await expect.element(left.getByRole("button", { name: "1 unsaved form" })).toBeVisible();
  expect(said()).toEqual(["New tag: your changes are kept, but not saved."]);
  router.filter({ new: "tag" });
  await expect.element(dialog.getByLabelText("Name")).toHaveValue("Bottle 41");
  expect(left.getByRole("button", { name: "1 unsaved form" }).query()).toBeNull();
});

test("a dialog that was saved leaves nothing, and says nothing of changes", async () => {
  answer = () => json({ id: 41 });
  location.hash = "#/tags?new=tag";
  await vi.waitFor(() => expect(router.place.query.new).toBe("tag"));
  const dialog = await render(NewTag, { oncreated: async () => undefined });
  await dialog.getByLabelText("Name").fill("Bottle 41");
  await dialog.getByRole("button", { name: "Create" }).click();
  await vi.waitFor(() => expect(location.hash).toBe("#/tags/41"));
  expect(drafts.unsaved).toEqual([]);
  expect(said()).toEqual([]);
});

test("what was typed for a connection goes with it, and is named before", async () => {
  vi.mocked(removeConnection).mockResolvedValue(undefined);
  connect(shop);
  const views = kept("views tags", { views: [1] });
  views.save({ views: [2] });
  const form = await render(NameForm, { stored: { name: "Bottle 41", note: "" } });
  await form.getByLabelText("Note").fill("half-typed");
  await form.unmount();
  connect(here);
  const settings = await render(Connections);
  await settings.getByRole("button", { name: "Remove…" }).click();
  await expect.element(settings.getByText("1 unsaved form of it is discarded:")).toBeVisible();
  await expect.element(settings.getByText("Bottle 41", { exact: true })).toBeVisible();
  await settings.getByRole("button", { name: "Remove connection" }).click();
  await vi.waitFor(() => expect(drafts.unsaved).toEqual([]));
  connect(shop);
  expect(views.load()).toEqual({ views: [1] });
});

test("an erasure is confirmed for its text and its count, and again for others", async () => {
  answer = (_, body) => json({ erased: body.includes("anna") ? 2 : 5 });
  const dialog = await render(ErasePerson, { open: true, onerased: () => undefined });
  const text = dialog.getByLabelText("Text that the person sent");
  const erase = dialog.getByRole("button", { name: /^Erase/ });
  await text.fill("anna@example.com");
  const sure = dialog.getByRole("checkbox", { name: "Erase 2 submissions with the text “anna@example.com” for good" });
  await expect.element(sure).not.toBeChecked();
  await expect.element(erase).toBeDisabled();
  await sure.click();
  await expect.element(erase).toBeEnabled();
  await text.fill("berta@example.com");
  const other = dialog.getByRole("checkbox", { name: "Erase 5 submissions with the text “berta@example.com” for good" });
  await expect.element(other).not.toBeChecked();
  await expect.element(erase).toBeDisabled();
  await other.click();
  await dialog.getByRole("checkbox", { name: "Also empty variables" }).click();
  await expect.element(erase).toBeDisabled();
});

test("sealed keys that were not saved are there for another try, with their passphrase", async () => {
  answer = () => new Response("sealed");
  vi.mocked(saveFile).mockResolvedValueOnce(false).mockResolvedValueOnce(true);
  const dialog = await render(SealKeys, { open: true, id: 3, onsaved: () => undefined });
  await dialog.getByLabelText("Passphrase", { exact: true }).fill("correct horse battery");
  await dialog.getByLabelText("Repeat passphrase").fill("correct horse battery");
  const save = dialog.getByRole("button", { name: "Save keys.sealed…" });
  await save.click();
  await expect.element(dialog.getByText("The keys are not saved yet. Choose where to save them.")).toBeVisible();
  await expect.element(dialog.getByLabelText("Repeat passphrase")).toHaveValue("correct horse battery");
  await save.click();
  await vi.waitFor(() => expect(said()).toEqual(["Keys saved."]));
  // It is not created twice.
  expect(window.fetch).toHaveBeenCalledTimes(1);
});

test("URLs that were pasted are kept when their screen is left, and keys never are", async () => {
  answer = () => json({ items: [], next: null });
  const key = "0123456789ABCDEF0123456789ABCDEF";
  const screen = await render(FindFormat, { onchosen: () => undefined });
  await screen.getByLabelText("URLs").fill("https://tags.example.com/v?u=1");
  await screen.getByLabelText("Keys", { exact: true }).fill(key);
  await screen.getByLabelText("Master keys").fill(key);
  await screen.unmount();
  expect(said()).toEqual(["Move in: your changes are kept, but not saved."]);
  expect(JSON.stringify(drafts.unsaved.map(({ draft }) => draft.form))).not.toContain(key);
  const again = await render(FindFormat, { onchosen: () => undefined });
  await expect.element(again.getByLabelText("URLs")).toHaveValue("https://tags.example.com/v?u=1");
  await expect.element(again.getByLabelText("Keys", { exact: true })).toHaveValue("");
  await expect.element(again.getByLabelText("Master keys")).toHaveValue("");
});

test("an experience that is not in the list stays chosen, and is named", async () => {
  answer = () => json({ items: [], next: null });
  const draft = drafts.open({ title: "New tag", href: "#/tags?new=tag" }, () => ({
    name: "",
    slug: "",
    experience_id: null as number | null,
  }));
  draft.form.experience_id = 777;
  location.hash = "#/tags?new=tag";
  await vi.waitFor(() => expect(router.place.query.new).toBe("tag"));
  const dialog = await render(NewTag, { oncreated: async () => undefined });
  await expect.element(dialog.getByRole("combobox", { name: "Experience" })).toHaveDisplayValue("Experience 777");
});

test("what is said of a service while another computer's is connected is of that one", async () => {
  const releases = { source: null, looked_at: null, found: null, problem: null };
  const local = {
    address: "http://127.0.0.1:8787",
    database: "/home/me/tapdesk.db",
    key_store: { kind: "file", text: "In a file" },
    releases,
  };
  shell.state = { phase: "ready", connection: shop, connections: [here, shop], ...local } as unknown as ShellState;
  const about = await render(About);
  await expect.element(about.getByText("https://shop.example.com")).toBeVisible();
  expect(about.container.textContent).not.toMatch(/127\.0\.0\.1|tapdesk\.db|In a file/);
});
