/** The facts of a tag. */
export interface Tag {
  id: number;
  name: string;
  title: string;
  description: string;
  /** The tag's URL without its one-time part. */
  url: string;
  languageCode: string;
}

/** The data that a page gets for the key of a tap: section 2.2 of the specification. */
export interface Payload {
  tag_verified: boolean | null;
  metadata: {
    tag_id: number;
    name: string;
    title: string;
    description: string;
    url: string;
    language_code: string;
    [member: string]: unknown;
  };
  [member: string]: unknown;
}

export interface Updated {
  ok: boolean;
  /**
   * `used`: the key updated something else before, and another tap is needed. `expired`: there is no key, or its five
   * minutes are over. `unknown_variable`: the tag cannot be updated so; its owner sets up the variable, or assigns the tag.
   * `unreachable`: the service did not answer; try again.
   */
  reason: "saved" | "used" | "expired" | "unknown_variable" | "unreachable";
}

export interface Tap {
  /** `true`: genuine. `false`: not verified, such as a copied URL. `null`: not checked, which never means "fake". */
  verified: boolean | null;
  /** `ok`: the service answered. `none`: the page was opened without a key, such as by a reload. */
  reason: "ok" | "none" | "expired" | "unreachable";
  tag: Tag | null;
  payload: Payload | null;
  /** When the key expires, by the clock of this device. */
  expiresAt: Date | null;
  /**
   * Sets variables of the tag, all or none, once for each tap. The same values again get the same answer.
   * @throws if a value is no text, or the service does not accept one, such as over 4 KiB.
   */
  update(values: Record<string, string | number | boolean>): Promise<Updated>;
}

export interface TapOptions {
  /** Scheme and host of the service. Needed unless the script was loaded from it. */
  service?: string;
  /** How long to go on while the service does not answer, in milliseconds. Default: 20,000. */
  timeout?: number;
}

export interface GuardOptions extends TapOptions {
  /** Address that replaces the page if the check does not pass. */
  fail?: string;
  /** Called when the page is shown. */
  onpass?: (tap: Tap) => void;
  /** Called if the check does not pass. Without `fail`, the page is empty then, for a message. */
  onfail?: (tap: Tap) => void;
}

/** Reads the key of the page's address, removes it from there, and asks the service about the tap. */
export function tap(options?: TapOptions): Promise<Tap>;

/**
 * Hides the page until the tap is verified, and removes its content if it is not. It protects nothing secret: the visitor
 * has received the page before the check.
 */
export function guard(options: GuardOptions): Promise<Tap>;
