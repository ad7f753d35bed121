import { expect, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import { play } from "../lib/ui/sound";

test("the audio of a window runs while notes sound, and not between two sounds", async () => {
  const states: AudioContextState[] = [];
  class Watched extends AudioContext {
    constructor() {
      super();
      this.addEventListener("statechange", () => states.push(this.state));
    }
  }
  vi.stubGlobal("AudioContext", Watched);
  // A browser plays nothing before a person has done something.
  await userEvent.keyboard("x");
  play("good");
  play("again");
  await vi.waitFor(() => expect(states).toEqual(["running", "suspended"]), { timeout: 20_000 });
  play("again");
  await vi.waitFor(() => expect(states).toEqual(["running", "suspended", "running", "suspended"]), { timeout: 20_000 });
});
