// A receiver that verifies each webhook with the published library of npm.
//
// receiver.mjs PORT JOURNAL SECRET: a line of the journal for each request, on disk before its
// answer; `refused` where the library does not accept it.

import { createHash } from "node:crypto";
import { fsyncSync, openSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const [port, path, secret] = process.argv.slice(2);
const webhook = new Webhook(secret);
const journal = openSync(path, "a");
// The line before may be torn.
writeSync(journal, "\n");

createServer((request, response) => {
  const pieces = [];
  request.on("data", (piece) => pieces.push(piece));
  request.on("end", () => {
    const body = Buffer.concat(pieces);
    let line = { id: request.headers["webhook-id"], digest: createHash("sha256").update(body).digest("hex") };
    try {
      webhook.verify(body, request.headers);
    } catch (error) {
      line = { refused: String(error) };
    }
    writeSync(journal, `${JSON.stringify(line)}\n`);
    fsyncSync(journal);
    response.writeHead(204).end();
  });
}).listen(Number(port), "127.0.0.1");
