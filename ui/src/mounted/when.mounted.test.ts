import { afterEach, expect, test } from "vitest";
import { cleanup, render } from "vitest-browser-svelte";

import When from "./When.svelte";

afterEach(() => cleanup());

test.each(["half", "101", "-1", ""])("a share of %j is refused, and stays as it was typed", async (typed) => {
  const when = await render(When, { stored: { type: "split", from: 0, until: 50 } });
  const until = when.getByRole("textbox", { name: "until" });
  await expect.element(until).toHaveAttribute("aria-invalid", "false");
  await until.fill(typed);
  await expect.element(until).toHaveValue(typed);
  await expect.element(until).toHaveAttribute("aria-invalid", "true");
  expect((until.element() as HTMLInputElement).validity.valid).toBe(false);
  expect(when.container.textContent).not.toMatch(/NaN|50% of/);
  await until.fill("30");
  await expect.element(when.getByText("30% of visitors.", { exact: false })).toBeVisible();
  expect((until.element() as HTMLInputElement).validity.valid).toBe(true);
});
