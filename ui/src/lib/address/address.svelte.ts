// The address in chips and printed codes: whether it is proved, and whether a person has agreed to
// it in this session. Encoding and printing ask here first.

import { get, getVersion, patchVersion, post } from "../api/client";
import { rights } from "../stores/rights.svelte";
import { settings } from "../stores/settings";
import { perConnection } from "../api/connection.svelte";
import { atMostEvery } from "../api/atMostEvery";
import { follow } from "../api/following";
import { shell } from "../shell/shell.svelte";
import { hostOf, isLoopback, isNumeric } from "./typed";
import type { TagUrl, TagUrlCheck } from "../api/types";

export type AddressReason = NonNullable<TagUrlCheck["reason"]>;

/** Addresses that may be used without proof while this window is open. */
const AGREED = "tapdesk.agreed-addresses";
const agreedBefore = (): string[] => JSON.parse(sessionStorage.getItem(AGREED) ?? "[]") as string[];

/** The pause before it is loaded again, in milliseconds: changes often come in groups. */
const PAUSE_MS = 200;

class Address {
  /** The address of the setting with its last result; null until it is known. */
  now = $state.raw<TagUrl | null>(null);
  /** The address that is checked at the moment. */
  checking = $state<string | null>(null);
  #agreed = $state.raw<readonly string[]>(agreedBefore());
  /** Whether its state cannot be loaded, so that the service decides. */
  #unknown = $state(false);

  get proved(): boolean {
    return this.now?.check?.state === "proved";
  }

  /** Whether a person agreed to use the address without proof. */
  get agreed(): boolean {
    return this.now !== null && this.#agreed.includes(this.now.tag_url);
  }

  /** Whether chips and codes can be created without asking. */
  get settled(): boolean {
    return this.proved || this.agreed || this.#unknown;
  }

  /** The member of a request that creates chips or codes. */
  get permission(): { allow_unproved_address?: true } {
    return !this.proved && this.agreed ? { allow_unproved_address: true } : {};
  }

  agree(): void {
    if (this.now === null) return;
    this.#agreed = [...agreedBefore(), this.now.tag_url];
    sessionStorage.setItem(AGREED, JSON.stringify(this.#agreed));
  }

  async load(): Promise<void> {
    try {
      this.now = await get("/tag-url");
      this.#unknown = false;
    } catch (error) {
      if (this.now === null) this.#unknown = true;
      throw error;
    }
  }

  /** Whether it was an address of this computer in its network, and is no longer. */
  get #lost(): boolean {
    const lan = shell.remote ? [] : (shell.ready?.lan ?? []).map(hostOf);
    const host = hostOf(this.now?.tag_url ?? "");
    return lan.length > 0 && isNumeric(host) && !isLoopback(this.now!.tag_url) && !lan.includes(host);
  }

  /**
   * Loads it if it is unknown, and checks it if it has not been checked: most addresses are proved
   * by that.
   */
  async ensure(): Promise<void> {
    await this.load().catch(() => undefined);
    if (this.now !== null && (this.now.check === null || this.#lost) && !this.agreed && rights.may("admin")) {
      await this.check(this.now.tag_url).catch(() => undefined);
    }
  }

  /** Lets the service open a test URL through an address. */
  async check(tag_url: string): Promise<TagUrlCheck> {
    this.checking = tag_url;
    try {
      const found = await post("/tag-url/check", { tag_url });
      if (this.now?.tag_url === found.tag_url) await this.load();
      return found;
    } finally {
      this.checking = null;
    }
  }

  /** Makes an address the setting. Returns the former one. */
  async save(tag_url: string): Promise<string | null> {
    const { value, etag } = await getVersion("/settings", {});
    const before = value.tag_url;
    await patchVersion("/settings", { tag_url }, {}, etag);
    await Promise.all([settings.load(), this.load()]);
    return before.source === "stored" ? (before.value ?? null) : null;
  }

  /** Restores the former address; null is the service's own default. */
  async restore(tag_url: string | null): Promise<void> {
    const { etag } = await getVersion("/settings", {});
    await patchVersion("/settings", { tag_url }, {}, etag);
    await Promise.all([settings.load(), this.load()]);
  }

  /** Follows it, because a phone may prove it, or another person change it; for `$effect`. */
  follow(): () => void {
    const again = atMostEvery(PAUSE_MS, () => this.load().catch(() => undefined));
    // The address is a setting; its proof is not.
    const stops = ["/tag-url", "/settings"].map((path) => follow(path, () => ({}), again));
    return () => stops.forEach((stop) => stop());
  }
}

export const address = perConnection(() => new Address());

class Gate {
  asking = $state(false);
  #answer: ((yes: boolean) => void) | null = null;

  /**
   * Whether chips or codes may be created with the address. Asks if it is neither proved nor agreed
   * to.
   */
  async asks(): Promise<boolean> {
    await address.ensure();
    if (address.settled) return true;
    this.#answer?.(false);
    this.asking = true;
    return new Promise((resolve) => (this.#answer = resolve));
  }

  answer(yes: boolean): void {
    this.asking = false;
    this.#answer?.(yes);
    this.#answer = null;
  }
}

/** The question, for actions without a dialog to ask it in. */
export const gate = new Gate();
