// A mail server for tests: SMTP without encryption, which keeps the mails that it takes.

import { createServer } from "node:net";

/** Starts it on this computer. `refused` are addresses that it does not know. */
export async function mailbox({ refused = [] } = {}) {
  const mails = [];
  const sockets = new Set();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => undefined);
    const say = (line) => socket.write(`${line}\r\n`);
    let [buffer, data, to, from] = ["", null, [], null];
    const answer = (line) => {
      const [verb] = line.toUpperCase().split(/[ :]/);
      const address = /<(.*?)>/.exec(line)?.[1] ?? "";
      if (verb === "EHLO") return say("250-mailbox.test\r\n250 8BITMIME");
      if (verb === "MAIL") [from, to] = [address, []];
      if (verb === "RCPT" && refused.includes(address)) return say("550 5.1.1 No such user");
      if (verb === "RCPT") to.push(address);
      if (verb === "DATA") return ((data = []), say("354 Go ahead"));
      if (verb === "QUIT") return (say("221 Bye"), socket.end());
      say("250 Ok");
    };
    say("220 mailbox.test ESMTP");
    socket.setEncoding("utf8").on("data", (text) => {
      buffer += text;
      const lines = buffer.split("\r\n");
      buffer = lines.pop();
      for (const line of lines) {
        if (data === null) answer(line);
        else if (line === ".") {
          mails.push({ from, to, subject: /^Subject: (.*)$/m.exec(data.join("\n"))?.[1], text: data.join("\n") });
          data = null;
          say("250 Ok: kept");
        } else data.push(line.replace(/^\./, ""));
      }
    });
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    port: server.address().port,
    /** The mails that it took, the oldest first. */
    mails,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
