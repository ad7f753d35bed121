import { afterEach, beforeEach, expect, test } from "vitest";
import { cleanup, render } from "vitest-browser-svelte";
import ScreenHead from "../lib/ui/ScreenHead.svelte";

let link: HTMLButtonElement;
let field: HTMLInputElement;
beforeEach(() => {
  link = document.body.appendChild(document.createElement("button"));
  field = document.body.appendChild(document.createElement("input"));
});
afterEach(async () => {
  await cleanup();
  link.remove();
  field.remove();
  location.hash = "";
});

/** Goes to another address, and waits until it is known. */
const go = (hash: string) =>
  new Promise((done) => {
    addEventListener("hashchange", done, { once: true });
    location.hash = hash;
  });
const frames = async () => {
  for (let passed = 0; passed < 3; passed++) await new Promise(requestAnimationFrame);
};

test("the focus goes to the heading of a screen that is shown, but not at the start, and nobody is called back", async () => {
  const first = await render(ScreenHead, { title: "Overview" });
  await frames();
  expect(document.activeElement).toBe(document.body);
  await first.unmount();

  link.focus();
  await go("#/tags");
  const tags = await render(ScreenHead, { title: "Tags" });
  await expect.element(tags.getByRole("heading", { name: "Tags" })).toHaveFocus();
  // The screen goes, and the focus with it.
  await tags.unmount();
  await go("#/inlays");
  const inlays = await render(ScreenHead, { title: "Inlays" });
  await expect.element(inlays.getByRole("heading", { name: "Inlays" })).toHaveFocus();
  await inlays.unmount();

  link.focus();
  await go("#/sheets");
  field.focus();
  await render(ScreenHead, { title: "Test sheets" });
  await frames();
  expect(document.activeElement).toBe(field);
});
