import { afterEach, expect, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import { cleanup, render } from "vitest-browser-svelte";
import { shortcuts } from "../lib/window/shortcuts.svelte";
import Keys from "./Keys.svelte";

afterEach(async () => {
  shortcuts.palette = shortcuts.sheet = false;
  await cleanup();
  location.hash = "";
});

async function show(part = false) {
  const done: string[] = [];
  const screen = await render(Keys, { part, run: (what) => done.push(what) });
  return { ...screen, screen, done };
}

test("the innermost part has its keys first, and gives them back when it goes", async () => {
  const { screen, done } = await show(true);
  await userEvent.keyboard("np");
  await screen.rerender({ part: false });
  await userEvent.keyboard("n");
  expect(done).toEqual(["new row", "pause", "new bottle"]);
  await screen.unmount();
  await userEvent.keyboard("np");
  expect(done).toHaveLength(3);
});

test("a letter that is typed is text, and on a checkbox it is a key", async () => {
  const { getByLabelText, done } = await show();
  await getByLabelText("Text").click();
  await userEvent.keyboard("n");
  await expect.element(getByLabelText("Text")).toHaveValue("n");
  expect(done).toEqual([]);
  await getByLabelText("Box").click();
  await userEvent.keyboard("n");
  expect(done).toEqual(["new bottle"]);
});

test("keys in a dialog do nothing on the screen behind it, and are the screen's again once it is closed", async () => {
  const { getByRole, getByLabelText, done } = await show();
  await getByRole("button", { name: "Open" }).click();
  await getByLabelText("In the dialog").click();
  await userEvent.keyboard("ngt?");
  expect(done).toEqual([]);
  expect(location.hash).toBe("");
  expect(shortcuts.sheet).toBe(false);
  await userEvent.keyboard("{Escape}");
  await vi.waitFor(() => expect(document.querySelector("[role=dialog]")).toBeNull(), { timeout: 20_000 });
  await expect.element(getByRole("button", { name: "Open" })).toHaveFocus();
  await userEvent.keyboard("n");
  expect(done).toEqual(["new bottle"]);
});

test("letters choose in a menu, and nothing else", async () => {
  const { getByRole, done } = await show();
  await getByRole("button", { name: "More" }).click();
  await expect.element(getByRole("menuitem", { name: "Next" })).toBeVisible();
  await userEvent.keyboard("n{Enter}");
  await vi.waitFor(() => expect(done).toEqual(["next"]), { timeout: 20_000 });
});

test("the question mark shows the keys of what is shown, each once, before those of the frame", async () => {
  const { getByRole } = await show(true);
  await userEvent.keyboard("?");
  const dialog = getByRole("dialog", { name: "Shortcuts" });
  await expect.element(dialog).toBeVisible();
  const lines = [...dialog.element().querySelectorAll("dd")].map((one) => one.textContent);
  expect(lines.slice(0, 3).sort()).toEqual(["New row", "Pause", "Search or run a command"]);
  expect(lines).not.toContain("New bottle");
});

test("g and a letter lead to a screen", async () => {
  await show();
  await userEvent.keyboard("gt");
  await vi.waitFor(() => expect(location.hash).toBe("#/tags"), { timeout: 20_000 });
});
