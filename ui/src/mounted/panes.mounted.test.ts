import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { cleanup, render } from "vitest-browser-svelte";
import type { ShellState } from "../lib/shell/desktop";
import { shell } from "../lib/shell/shell.svelte";
import ExperienceDetail from "../routes/experiences/ExperienceDetail.svelte";
import InlayDetail from "../routes/inlays/InlayDetail.svelte";
import Inspector from "../routes/interactions/Inspector.svelte";
import BackupSchedule from "../routes/settings/BackupSchedule.svelte";
import Submission from "../routes/submissions/Submission.svelte";
import TagDetail from "../routes/tags/TagDetail.svelte";
import TemplateDetail from "../routes/templates/TemplateDetail.svelte";

const none = async () => undefined;
const panes = [
  ["Tag", "#/tags", () => render(TagDetail, { id: 7, onchanged: none, onremoved: none })],
  ["Experience", "#/experiences", () => render(ExperienceDetail, { id: 7, onchanged: none })],
  ["Interaction", "#/interactions", () => render(Inspector, { id: 7 })],
  ["Submission", "#/submissions", () => render(Submission, { id: 7, onerased: none, onsaved: none })],
  ["Inlay", "#/inlays", () => render(InlayDetail, { id: 7, onchanged: none })],
  ["URL template", "#/templates", () => render(TemplateDetail, { id: 7, onchanged: none })],
] as const;

const problem = (status: number, detail: string) => new Response(JSON.stringify({ detail }), { status });
let answer: (address: string) => Response | Promise<Response>;

beforeEach(() => {
  shell.state = { phase: "ready", connection: { id: "embedded" } } as ShellState;
  vi.spyOn(window, "fetch").mockImplementation(async (address) => answer(String(address)));
});
afterEach(async () => {
  await cleanup();
  vi.restoreAllMocks();
  shell.state = { phase: "starting" };
  location.hash = "";
});

test.each(panes)("%s: a pane whose load fails has its head, says why, and tries again", async (name, place, shown) => {
  answer = () => problem(503, "The database is locked.");
  location.hash = `${place}/7`;
  const pane = await shown();
  await expect.element(pane.getByRole("heading", { name, exact: true })).toBeVisible();
  await expect.element(pane.getByText("The database is locked.", { exact: true })).toBeVisible();
  const again = vi.fn(() => problem(404, "There is none."));
  answer = again;
  await pane.getByRole("button", { name: "Try again" }).click();
  await expect.element(pane.getByRole("heading", { name: `${name} not found` })).toBeVisible();
  expect(again).toHaveBeenCalled();
  await pane.getByRole("button", { name: "Close" }).first().click();
  expect(location.hash).toBe(place);
});

test("a pane that is still loaded can be closed", async () => {
  answer = () => new Promise(() => undefined);
  location.hash = "#/interactions/7";
  const pane = await render(Inspector, { id: 7 });
  await pane.getByRole("button", { name: "Close" }).click();
  expect(location.hash).toBe("#/interactions");
});

test("the schedule of backups cannot be edited before it is known what it is", async () => {
  answer = () => problem(503, "The database is locked.");
  const settings = await render(BackupSchedule);
  await expect.element(settings.getByText("The database is locked.")).toBeVisible();
  expect(settings.getByRole("textbox").query()).toBeNull();
  answer = () =>
    new Response(
      JSON.stringify({ enabled: true, destination: "/mnt/backup", every_hours: 6, keep: 3, sealed: false, files: [], last: null }),
    );
  await settings.getByRole("button", { name: "Load the schedule again" }).click();
  await expect.element(settings.getByLabelText("Destination")).toHaveValue("/mnt/backup");
  await expect.element(settings.getByLabelText("Time between backups")).toHaveValue("6");
  await expect.element(settings.getByRole("button", { name: "Save schedule" })).toBeDisabled();
});
