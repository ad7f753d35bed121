// A tap at the address of another service, as a proxy passes it on.

import { request } from "node:http";

/** Opens `path` of `host` at the service; returns the status. */
export const tapAt = (service, host, path) =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(service);
    request(
      { hostname, port, path, headers: { host, "user-agent": "Mozilla/5.0 (iPhone)" } },
      (answer) => (answer.resume(), resolve(answer.statusCode)),
    )
      .on("error", reject)
      .end();
  });
