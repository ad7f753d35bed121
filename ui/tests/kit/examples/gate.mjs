// The network between an example and the service, which can fail.

import { createServer, request } from "node:http";

/** While `closed` matches the path of a request, its connection breaks. */
export async function gateTo(service) {
  const { host, hostname, port } = new URL(service);
  const gate = { closed: null, url: "", close: () => undefined };
  const server = createServer((incoming, outgoing) => {
    if (gate.closed?.test(incoming.url)) {
      incoming.socket.destroy();
      return;
    }
    const { method, url: path } = incoming;
    const onward = request({ agent: false, host: hostname, port, path, method, headers: { ...incoming.headers, host } }, (answer) => {
      outgoing.writeHead(answer.statusCode, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onward.destroy());
    incoming.pipe(onward);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  gate.url = `http://127.0.0.1:${server.address().port}`;
  gate.close = () => {
    server.closeAllConnections();
    server.close();
  };
  return gate;
}
