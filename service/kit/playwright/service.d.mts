/** A tag of the demo data. */
export interface DemoTag {
    id: number;
    name: string;
    slug: string;
    /** Its URL, as a printed QR code has it. */
    url: string;
    /** Its virtual inlay; null for the tag with only a QR code. */
    inlay: { id: number; uid: string } | null;
    experience: { id: number; name: string } | null;
}

export interface StartOptions {
    /** Path of `tapdesk-service`. Default: the variable `TAPDESK_SERVICE`, or the program in `PATH`. */
    command?: string;
    /**
     * Makes the whole world repeatable. Its clock starts at 2026-01-01T00:00:00Z and stands still until it is moved. Without
     * a seed, the clock is that of this machine.
     */
    seed?: number | null;
    /** Port at 127.0.0.1. Default: a free one. */
    port?: number;
}

/** The page that a browser shows, such as Playwright's. */
export interface Visits<Response> {
    goto(url: string): Promise<Response>;
}

export interface InlayOptions {
    /** URL of the page that taps open. */
    page?: string;
    /** Members of the tag, as `POST /admin/v1/tags` takes them. Default: a name, and the variable `registered`. */
    tag?: Record<string, unknown>;
}

/** A virtual inlay on a tag of its own. Each method that taps is given the page of a browser. */
export interface Inlay {
    readonly id: number;
    readonly uid: string;
    /** URL of the page that its taps open. */
    readonly page?: string;
    /** The tag as the API shows it, before its first tap. */
    readonly tag: { id: number; slug: string; name: string; url: string; [member: string]: unknown };
    /** The URL of the next tap. It verifies once. Options are those of `POST /admin/v1/simulator/inlays/{id}/tap`. */
    url(options?: Record<string, unknown>): Promise<string>;
    /** A genuine tap. */
    tap<Response>(page: Visits<Response>): Promise<Response>;
    /** A genuine URL that was opened before. */
    replayed<Response>(page: Visits<Response>): Promise<Response>;
    /** A URL whose MAC is wrong, as from somebody without the key. */
    forged<Response>(page: Visits<Response>): Promise<Response>;
    /** A code that was copied from the genuine inlay, whose counter has risen since. */
    cloned<Response>(page: Visits<Response>): Promise<Response>;
    /** A genuine tap whose page is opened after the rolling key has expired. It moves the service's clock. */
    expired<Response>(page: Visits<Response>): Promise<Response>;
    /** The present variables of the tag. */
    variables(): Promise<Record<string, string>>;
}

/** A running service. */
export interface Service {
    readonly url: string;
    /** The admin token. */
    readonly token: string;
    readonly seed: number;
    readonly startedAt: Date;
    readonly tags: DemoTag[];
    /**
     * Calls the admin API; `path` is the part after `/admin/v1`.
     * @throws with the body of the answer, if its status is an error.
     */
    call(method: string, path: string, body?: unknown): Promise<any>;
    /** Moves the clock forward, and returns its new time. */
    advance(milliseconds: number): Promise<Date>;
    inlay(options?: InlayOptions): Promise<Inlay>;
    end(): Promise<void>;
}

/**
 * Starts a service. It ends with `end()`, or with this process.
 * @throws if the program is not found, or does not start.
 */
export function start(options?: StartOptions): Promise<Service>;
