import type { PlaywrightTestArgs, PlaywrightTestOptions, PlaywrightWorkerArgs, PlaywrightWorkerOptions, TestType } from "@playwright/test";
import type { Inlay, Service } from "./service.mjs";

export { expect } from "@playwright/test";
export type { DemoTag, Inlay, Service } from "./service.mjs";

/** Options of a worker, in `use` of the configuration. */
export interface TapdeskWorkerOptions {
    /** Path of `tapdesk-service`. Default: the variable `TAPDESK_SERVICE`, or the program in `PATH`. */
    tapdeskCommand: string | undefined;
    /**
     * The seed of the service, 1 by default: each run has the same ids, keys and times. `null` for another world each time,
     * with the clock of this machine.
     */
    tapdeskSeed: number | null;
}

/** Options of a test, in `use` of the configuration or in `test.use`. */
export interface TapdeskOptions {
    /** URL of the service in the page under test. The page's requests to it reach the test's service instead. */
    tapdeskUrl: string | undefined;
    /** The page that taps open: a URL, or a path below `baseURL`. Default: `baseURL`. */
    tapPage: string | undefined;
    /** Members of the inlay's tag, as `POST /admin/v1/tags` takes them. */
    tapTag: Record<string, unknown>;
}

export interface TapdeskFixtures {
    /** A new virtual inlay, on a tag of its own. */
    inlay: Inlay;
}

export interface TapdeskWorkerFixtures {
    /** The service of this worker. */
    service: Service;
}

export const test: TestType<
    PlaywrightTestArgs & PlaywrightTestOptions & TapdeskOptions & TapdeskFixtures,
    PlaywrightWorkerArgs & PlaywrightWorkerOptions & TapdeskWorkerOptions & TapdeskWorkerFixtures
>;
