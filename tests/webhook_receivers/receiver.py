"""A receiver that verifies each webhook with the published library of PyPI.

receiver.py PORT JOURNAL SECRET: a line of the journal for each request, on disk before its
answer; `refused` where the library does not accept it.
"""

import hashlib
import http.server
import json
import os
import sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

port, path, secret = int(sys.argv[1]), sys.argv[2], sys.argv[3]
webhook = Webhook(secret)
journal = open(path, "ab", buffering=0)
# The line before may be torn.
journal.write(b"\n")


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        line = {"id": self.headers["webhook-id"], "digest": hashlib.sha256(body).hexdigest()}
        try:
            webhook.verify(body, dict(self.headers))
        except WebhookVerificationError as error:
            line = {"refused": str(error)}
        journal.write(json.dumps(line).encode() + b"\n")
        os.fsync(journal.fileno())
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", port), Receiver).serve_forever()
