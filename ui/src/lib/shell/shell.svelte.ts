// The shell's state, for every screen.

import { service } from "../api/service";
import { reach } from "../api/reach";
import { onShellState, serviceBase, shellState, showing, type Ready, type ShellState } from "./desktop";

class Shell {
  state = $state<ShellState>({ phase: "starting" });

  get ready(): Ready | null {
    return this.state.phase === "ready" ? this.state : null;
  }

  /** Whether the screens show another computer's service. */
  get remote(): boolean {
    return this.ready?.connection.kind === "remote";
  }

  /** The prefix of every path of the connected service. */
  get base(): string {
    return serviceBase(this.ready?.connection.id ?? "");
  }

  async start(): Promise<void> {
    let heard = false;
    onShellState((state) => {
      heard = true;
      this.#take(state);
    });
    // The answer may be older than later reports: the service is ready in a moment.
    const asked = await shellState();
    if (!heard) this.#take(asked);
  }

  #take(state: ShellState): void {
    this.state = state;
    if (state.phase === "ready") showing(state.connection.id);
    reach.take(state.phase === "ready" && !!state.lost);
  }
}

export const shell = new Shell();

service.connection = () => shell.ready?.connection.id ?? null;
service.name = () => shell.ready?.connection.name ?? "";
service.base = () => shell.base;
