// The mail server of the service, with its version. No server is a value, too: null.

import { getVersion, type Version } from "../../../lib/api/client";
import { Loadable } from "../../../lib/api/loadable";
import { Problem } from "../../../lib/api/problem";
import type { MailServer } from "../../../lib/api/types";
import { follow } from "../../../lib/api/following";

export type StoredServer = Loadable<Version<MailServer | null>>;

async function load(): Promise<Version<MailServer | null>> {
  try {
    return await getVersion("/mail", {});
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return { value: null, etag: null };
    throw error;
  }
}

/** Not from the cache: saving a last known server would overwrite that of another operator. */
export const mailServer = (): StoredServer => new Loadable(load, { follow: (outdate) => follow("/mail", () => ({}), outdate) });
