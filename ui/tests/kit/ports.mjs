// A port that was free a moment ago, for programs that do not say at which one they listen.

import { createServer } from "node:net";

export const freePort = () =>
  new Promise((found) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => found(port));
    });
  });
