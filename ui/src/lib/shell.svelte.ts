// The shell's state, for every screen.

import { onShellState, shellState, type Ready, type ShellState } from "./desktop";

class Shell {
  state = $state<ShellState>({ phase: "starting" });

  get ready(): Ready | null {
    return this.state.phase === "ready" ? this.state : null;
  }

  /** Whether the screens show another computer's service. */
  get remote(): boolean {
    return this.ready?.connection.kind === "remote";
  }

  async start(): Promise<void> {
    onShellState((state) => (this.state = state));
    this.state = await shellState();
  }
}

export const shell = new Shell();
