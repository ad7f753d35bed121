import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import { cleanup, render } from "vitest-browser-svelte";
import { Problem } from "../lib/api/client";
import { setUnsaved, type ShellState } from "../lib/shell/desktop";
import { shell } from "../lib/shell/shell.svelte";
import { drafts } from "../lib/ui/drafts.svelte";
import { notices } from "../lib/window/notices.svelte";
import LeftDrafts from "../lib/frame/LeftDrafts.svelte";
import Notices from "../lib/window/Notices.svelte";
import ClosingForm from "./ClosingForm.svelte";
import NameForm from "./NameForm.svelte";

vi.mock("../lib/shell/desktop", { spy: true });

const stored = { name: "Bottle 41", note: "" };

beforeEach(() => vi.mocked(setUnsaved).mockClear());
afterEach(async () => {
  await cleanup();
  for (const { draft } of drafts.left) drafts.drop(draft);
  for (const { id } of notices.shown) notices.dismiss(id);
  location.hash = "";
});

/** Whether the window asks before it loads the page again. */
const asksToLeave = () => !dispatchEvent(new Event("beforeunload", { cancelable: true }));
const waits = () => vi.mocked(setUnsaved).mock.calls.at(-1)?.[0];

test("what was typed is there again when its form was left, and the notice leads back to it", async () => {
  const said = await render(Notices);
  const form = await render(NameForm, { stored, href: "#/tags/41" });
  await form.getByLabelText("Note").fill("half-typed");
  await form.unmount();
  await expect.element(said.getByText("Bottle 41: your changes are kept, but not saved.")).toBeVisible();
  await said.getByRole("button", { name: "Show" }).click();
  expect(location.hash).toBe("#/tags/41");
  const again = await render(NameForm, { stored, href: "#/tags/41" });
  await expect.element(again.getByLabelText("Note")).toHaveValue("half-typed");
  await again.getByRole("button", { name: "Discard changes" }).click();
  await expect.element(again.getByLabelText("Note")).toHaveValue("");
});

test("a form that another one of the same takes the place of is not left", async () => {
  const said = await render(Notices);
  const form = await render(NameForm, { stored, href: "#/tags/41" });
  await form.getByLabelText("Note").fill("half-typed");
  const next = await render(NameForm, { stored, href: "#/tags/41" });
  await form.unmount();
  await expect.element(next.getByLabelText("Note")).toHaveValue("half-typed");
  expect(drafts.left).toEqual([]);
  expect(said.container.querySelectorAll(".notice")).toHaveLength(0);
  await next.unmount();
  expect(drafts.left).toHaveLength(1);
});

test("what was typed for another connection is kept for it, and its notice leads nowhere here", async () => {
  const connect = (id: string) => (shell.state = { phase: "ready", connection: { id } } as ShellState);
  const said = await render(Notices);
  connect("embedded");
  const form = await render(NameForm, { stored });
  await form.getByLabelText("Note").fill("half-typed");
  connect("shop");
  await form.unmount();
  await expect.element(said.getByText("Bottle 41: your changes are kept for when you connect there again, but not saved.")).toBeVisible();
  expect(said.getByRole("button", { name: "Show" }).query()).toBeNull();
  expect(drafts.left).toEqual([]);
  connect("embedded");
  expect(drafts.left).toHaveLength(1);
  for (const { draft } of drafts.left) drafts.drop(draft);
  shell.state = { phase: "starting" };
});

test("a form that is left as it was stored leaves nothing, and neither does one that was saved", async () => {
  const said = await render(Notices);
  const form = await render(NameForm, { stored });
  await form.getByLabelText("Note").fill("x");
  await form.getByLabelText("Note").fill("");
  await form.unmount();
  const other = await render(NameForm, { stored });
  await other.getByLabelText("Note").fill("saved");
  await other.getByRole("button", { name: "Save" }).click();
  await vi.waitFor(() => expect(waits()).toBe(false), { timeout: 20_000 });
  await other.unmount();
  expect(drafts.left).toEqual([]);
  expect(said.container.querySelectorAll(".notice")).toHaveLength(0);
});

test("a form that is discarded and closed in the same moment leaves nothing", async () => {
  const said = await render(Notices);
  const form = await render(ClosingForm, { stored });
  await form.getByLabelText("Note").fill("typed");
  await form.getByRole("button", { name: "Cancel" }).click();
  await expect.element(form.getByLabelText("Note")).not.toBeInTheDocument();
  expect(drafts.left).toEqual([]);
  expect(said.container.querySelectorAll(".notice")).toHaveLength(0);
});

test("the window is told as long as something is not saved, also when its form was left", async () => {
  const form = await render(NameForm, { stored });
  await form.getByLabelText("Note").fill("half");
  await vi.waitFor(() => expect(waits()).toBe(true), { timeout: 20_000 });
  await form.unmount();
  expect(waits()).toBe(true);
  expect(asksToLeave()).toBe(true);
  const left = await render(LeftDrafts);
  await left.getByRole("button", { name: "1 unsaved form" }).click();
  await left.getByRole("button", { name: "Discard changes of Bottle 41" }).click();
  await vi.waitFor(() => expect(waits()).toBe(false), { timeout: 20_000 });
  expect(asksToLeave()).toBe(false);
  expect(drafts.left).toEqual([]);
});

test("what others change is taken where nobody typed, and shown beside what was typed", async () => {
  const form = await render(NameForm, { stored });
  await form.getByLabelText("Name").fill("Mine");
  await form.rerender({ stored: { name: "Theirs", note: "new" } });
  await expect.element(form.getByLabelText("Note")).toHaveValue("new");
  await expect.element(form.getByLabelText("Name")).toHaveValue("Mine");
  await form.getByRole("button", { name: "Use new value" }).click();
  await expect.element(form.getByLabelText("Name")).toHaveValue("Theirs");
  await expect.element(form.getByRole("button", { name: "Save" })).toBeDisabled();
});

test("a refused save says why at its field, which keeps what was typed and is described by it", async () => {
  const wrong = [{ field: "name", message: "Another tag has this name." }];
  const form = await render(NameForm, { stored, send: () => Promise.reject(new Problem(422, "The body is invalid.", null, wrong)) });
  const name = form.getByLabelText("Name");
  await name.fill("Taken");
  await form.getByRole("button", { name: "Save" }).click();
  await expect.element(name).toHaveAccessibleDescription("Another tag has this name.");
  await expect.element(name).toHaveAttribute("aria-invalid", "true");
  await expect.element(name).toHaveValue("Taken");
  expect(form.container.textContent).not.toContain("The body is invalid.");
});

test("Enter in a field saves nothing, and the button saves once however often it is clicked", async () => {
  const sent: unknown[] = [];
  let answer: (names: typeof stored) => void = () => undefined;
  const send = (changes: Partial<typeof stored>) => {
    sent.push(changes);
    return new Promise<typeof stored>((done) => (answer = done));
  };
  const form = await render(NameForm, { stored, send });
  await form.getByLabelText("Note").fill("first");
  await userEvent.keyboard("{Enter}");
  expect(sent).toEqual([]);
  const save = form.getByRole("button", { name: "Save" });
  await save.click();
  await expect.element(save).toBeDisabled();
  // Text that is typed during the request stays an edit.
  await form.getByLabelText("Note").fill("second");
  answer({ ...stored, note: "first" });
  await expect.element(save).toBeEnabled();
  await expect.element(form.getByLabelText("Note")).toHaveValue("second");
  expect(sent).toEqual([{ note: "first" }]);
});
