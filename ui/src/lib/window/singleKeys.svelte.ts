// Whether single keys run commands: a choice of this computer, like the theme. Speech input and
// shaking hands press keys by accident, so people can turn this off (WCAG 2.1.4).

const KEY = "single-keys";

class SingleKeys {
  on = $state(globalThis.localStorage?.getItem(KEY) !== "off");

  choose(on: boolean): void {
    this.on = on;
    if (on) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, "off");
  }

  /**
   * Whether a shortcut runs. Characters such as "n" and "g t" run only if this is on, others
   * always.
   */
  allows(keys: string): boolean {
    return this.on || keys.split(" ").some((key) => key.length > 1);
  }
}

export const singleKeys = new SingleKeys();
