// The mail server of the service, with its version. No server is a value, too: null.

import { getVersion, type Version } from "../../../lib/api/client";
import { Loadable } from "../../../lib/api/loadable";
import type { MailServer } from "../../../lib/api/types";
import { follow } from "../../../lib/api/following";

export type StoredServer = Loadable<Version<MailServer | null>>;

/** Not from the cache: saving a last known server would overwrite that of another operator. */
export const mailServer = (): StoredServer =>
  new Loadable(() => getVersion("/mail", {}), { follow: (outdate) => follow("/mail", () => ({}), outdate) });
