"""A mail server of aiosmtpd, and each mail as Python's parser reads it.

server.py SETTINGS: the settings are JSON. It writes its port to stdout, and to the journal a line of
JSON for each mail and for each recipient that it refused, before its answer.
"""

import asyncio
import json
import logging
import ssl
import sys
import warnings
from email import policy
from email.parser import BytesParser

from aiosmtpd.smtp import SMTP, AuthResult

settings = json.loads(sys.argv[1])
security = settings["security"]
journal = open(settings["journal"], "ab", buffering=0)
certificate = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
certificate.load_cert_chain(settings["certificate"])
# aiosmtpd warns of its own use of a deprecated name, and of a login without STARTTLS.
logging.getLogger("mail.log").setLevel(logging.ERROR)
warnings.filterwarnings("ignore", module="aiosmtpd")


def note(line):
    journal.write(json.dumps(line).encode() + b"\n")


def part_of(part):
    """A part without parts of its own."""
    return {
        "type": part.get_content_type(),
        "disposition": part.get_content_disposition(),
        "id": part["content-id"],
        "bytes": len(part.get_payload(decode=True)),
    }


def read(content):
    """A mail as a program reads it that knows nothing of its sender."""
    mail = BytesParser(policy=policy.SMTP).parsebytes(content)
    parts = list(mail.walk())
    text, html = (mail.get_body((kind,)) for kind in ("plain", "html"))
    return {
        "defects": [repr(defect) for part in parts for defect in part.defects]
        + [repr(defect) for header in mail.values() for defect in header.defects],
        "headers": {name.lower(): str(value) for name, value in mail.items()},
        "date": mail["date"].datetime.timestamp(),
        "type": mail.get_content_type(),
        "alternatives": [part.get_content_type() for part in mail.iter_parts()],
        "leaves": [part_of(part) for part in parts if not part.is_multipart()],
        "text": text.get_content(),
        "html": html.get_content(),
        "longest_line": max(len(line) for line in content.split(b"\r\n")),
        "is_ascii": content.isascii(),
        "bare_line_ends": content.replace(b"\r\n", b"").count(b"\n"),
    }


class Handler:
    """Refuses each recipient for the moment when it comes for the first time."""

    known = set()

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address not in self.known:
            self.known.add(address)
            note({"refused": address})
            return "451 4.7.1 Greylisted, come back later"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 Ok"

    async def handle_DATA(self, server, session, envelope):
        note(
            {
                "from": envelope.mail_from,
                "to": envelope.rcpt_tos,
                "user": session.auth_data,
                "encrypted": server.transport.get_extra_info("ssl_object") is not None,
                **read(envelope.original_content),
            }
        )
        return "250 2.0.0 Taken"


def logged_in(server, session, envelope, mechanism, login):
    """The user, if the password is right."""
    user, password = login.login.decode(), login.password.decode()
    is_right = (user, password) == (settings["user"], settings["password"])
    # Not handled here: aiosmtpd answers a wrong one.
    return AuthResult(success=is_right, handled=False, auth_data=user)


def conversation():
    return SMTP(
        Handler(),
        hostname="mail.test",
        tls_context=certificate if security == "starttls" else None,
        require_starttls=security == "starttls",
        authenticator=logged_in,
        auth_required=True,
        # It does not know that its connection is encrypted from the first byte.
        auth_require_tls=security == "starttls",
    )


async def main():
    encrypted = certificate if security == "tls" else None
    loop = asyncio.get_running_loop()
    server = await loop.create_server(conversation, "127.0.0.1", 0, ssl=encrypted)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
