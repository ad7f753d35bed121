// The address that a person is about to choose: an address of this network, or their domain.

import { Problem, wordsOf } from "../api/problem";
import type { TagUrlCheck } from "../api/types";
import { settings } from "../stores/settings";
import { shell } from "../shell/shell.svelte";
import { inDesktop } from "../shell/desktop";
import { address } from "./address.svelte";
import { carried, type Carried } from "./carried";
import { onNetwork, openToNetwork } from "./network";
import { completed, isLoopback, TAG_PATH } from "./typed";

export type Place = "network" | "domain";

export class Candidate {
  place = $state<Place>("domain");
  typed = $state("");
  /** The index of the chosen network address. */
  picked = $state(0);
  /** The last check, and the text that was checked. */
  #result = $state.raw<{ of: string; check: TagUrlCheck } | null>(null);
  problem = $state<string | null>(null);
  busy = $state(false);
  /** The inlays and codes that contain the present address. */
  carried = $state.raw<Carried | null>(null);

  /** Starts with the present address. */
  begin(): void {
    const now = address.now?.tag_url ?? "";
    const lan = this.lan.indexOf(now);
    this.place = this.network && (isLoopback(now) || lan >= 0) ? "network" : "domain";
    this.picked = Math.max(lan, 0);
    this.typed = this.place === "domain" && !isLoopback(now) ? now : "";
    this.#result = this.problem = null;
  }

  /** Whether this computer's own service is shown, and its listener can be changed. */
  get network(): boolean {
    return inDesktop && !shell.remote;
  }

  /** Whether the listener is closed to phones, and can be opened. */
  get closed(): boolean {
    return shell.ready !== null && !shell.ready.phones && !shell.ready.listen_fixed;
  }

  get lan(): string[] {
    return (shell.ready?.lan ?? []).map(onNetwork);
  }

  /** The text to check, which the service completes. */
  get #asked(): string {
    return this.place === "network" ? (this.lan[this.picked] ?? this.lan[0] ?? "") : this.typed.trim();
  }

  /** The result of its check; null if it has not been checked. */
  get result(): TagUrlCheck | null {
    return this.#result?.of === this.#asked ? this.#result.check : null;
  }

  /** The complete address; null if there is none yet. */
  get url(): string | null {
    return this.result?.tag_url ?? completed(this.#asked);
  }

  /** Whether it differs from the setting. */
  get differs(): boolean {
    return this.url !== null && this.url !== address.now?.tag_url;
  }

  /**
   * Whether existing chips or codes would keep another address than this one. Addresses of only
   * this computer are for trying, and do not count.
   */
  get leaves(): boolean {
    const now = address.now?.tag_url ?? "";
    return this.differs && !isLoopback(now) && this.carried !== null && this.carried.inlays + this.carried.codes > 0;
  }

  /** Opens the listener if needed, and checks the address. Returns the address if it is proved. */
  check(): Promise<string | null> {
    return this.#work(async () => {
      let opened: string | undefined;
      if (this.place === "network" && this.closed) {
        [opened] = await openToNetwork();
        await Promise.all([address.load(), settings.load()]);
      }
      // The window may learn a moment later that the listener is open.
      const asked = this.#asked || (opened ?? "");
      if (asked === "") throw new Error(this.#missing);
      this.carried ??= await carried();
      const check = await address.check(asked);
      this.#result = { of: asked, check };
      return check.state === "proved" ? check.tag_url : null;
    });
  }

  /** Appends the path of this service's tag URLs, and checks again. */
  withTagPath(): Promise<string | null> {
    const url = this.url ?? address.now?.tag_url;
    if (url) [this.place, this.typed] = ["domain", new URL(url).origin + TAG_PATH];
    return this.check();
  }

  /** Saves it, and returns the former address. */
  save(): Promise<string | null> {
    return this.#work(async () => {
      const url = this.url;
      if (url === null) throw new Error(this.#missing);
      return address.save(url);
    });
  }

  get #missing(): string {
    if (this.place === "network") return "This computer has no network address. Connect it to a network, then try again.";
    return "Enter your domain, such as tags.example.com.";
  }

  async #work<T>(work: () => Promise<T>): Promise<T | null> {
    if (this.busy) return null;
    this.busy = true;
    this.problem = null;
    try {
      return await work();
    } catch (error) {
      // The address is the only field, so its error needs no name before it.
      this.problem = error instanceof Problem && error.errors[0] ? error.errors[0].message : wordsOf(error);
      return null;
    } finally {
      this.busy = false;
    }
  }
}
