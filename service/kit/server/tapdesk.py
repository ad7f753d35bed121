"""The page behind a tap, on your server (Python 3.9 or newer, no dependency): trade a rolling key,
update variables with it, verify webhooks."""

import base64
import hashlib
import hmac
import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from datetime import datetime, timedelta, timezone

# How often a call is tried, since a visitor waits for the page.
ATTEMPTS = 3
# How old a webhook may be, in seconds: Standard Webhooks 1.0.
TOLERANCE = 300


class TapdeskError(Exception):
    """The service does not understand a request, or a webhook is not from the service."""


def tap(service, rk):
    """The facts of the tap that opened your page with the parameter `rk`.

    `verified` is True, False, or None for "not checked", which never means "fake". The key can be
    traded again until it expires.
    """
    if not rk:
        return _nothing("none")
    query = urllib.parse.urlencode({"rk": _base64(rk)})

    def read(_status, headers, payload):
        if isinstance(payload, list):
            return _nothing("expired")
        if not isinstance(payload, dict) or "metadata" not in payload:
            return None
        facts = payload["metadata"]
        names = ("name", "title", "description", "url", "language_code")
        left = timedelta(seconds=int(headers.get("Tapdesk-Expires-In", 0)))
        return {
            "verified": payload["tag_verified"],
            "reason": "ok",
            "tag": {"id": facts["tag_id"], **{name: facts[name] for name in names}},
            "payload": payload,
            "expires_at": datetime.now(timezone.utc) + left,
        }

    url = f"{_base(service)}/v2/interactions/rk_payload?{query}"
    return _ask(urllib.request.Request(url), read) or _nothing("unreachable")


def update(service, rk, values, idempotency_key=None):
    """Sets variables of the tag, all or none, once for each key.

    A request that the service does not understand, such as a value over 4 KiB, raises TapdeskError.
    The same values with the same `idempotency_key` are saved once: give your own one to make a
    second click harmless.
    """
    if not rk:
        return {"ok": False, "reason": "expired"}
    request = urllib.request.Request(
        f"{_base(service)}/v2/interactions/data",
        data=json.dumps({"rolling_key": _base64(rk), "data": values}).encode(),
        # The service answers a repeated request again, instead of refusing a used key.
        headers={"Content-Type": "application/json", "Idempotency-Key": idempotency_key or str(uuid.uuid4())},
    )

    def read(status, headers, body):
        if not isinstance(body, dict):
            return None
        refused = headers.get("Tapdesk-Reason")
        if body.get("success"):
            return {"ok": True, "reason": "saved"}
        if refused:
            return {"ok": False, "reason": refused}
        if status in (400, 413, 415):
            raise TapdeskError(body.get("message"))
        return None

    return _ask(request, read) or {"ok": False, "reason": "unreachable"}


def verify_webhook(secret, headers, body):
    """The event of a webhook. `headers` are those of the request, `body` its bytes as they arrived.

    Raises TapdeskError if the endpoint's `secret` did not sign it, or it is older than five minutes.
    """
    headers = {name.lower(): value for name, value in headers.items()}
    sent = headers.get("webhook-timestamp", "")
    # Numbers of thousands of digits are more than Python converts.
    if not sent.isdecimal() or len(sent) > 12 or abs(time.time() - int(sent)) > TOLERANCE:
        raise TapdeskError("The webhook is too old, or its time is missing.")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    if not key:
        # Anyone could sign with it.
        raise TapdeskError("The secret of the webhook is missing.")
    signed = f"{headers.get('webhook-id', '')}.{sent}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    # Several while a secret is being replaced.
    given = headers.get("webhook-signature", "").split(" ")
    if not any(hmac.compare_digest(one.encode(), expected.encode()) for one in given):
        raise TapdeskError("The signature of the webhook is wrong.")
    return json.loads(body)


def _base(service):
    """People copy addresses with a slash at the end."""
    return service.rstrip("/")


def _base64(rk):
    return base64.b64encode(rk.encode(errors="replace")).decode()


def _nothing(reason):
    return {"verified": None, "reason": reason, "tag": None, "payload": None, "expires_at": None}


def _ask(request, read):
    """Calls the service until it answers with something that `read` accepts."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            try:
                answer = urllib.request.urlopen(request, timeout=5)
            except urllib.error.HTTPError as refused:
                answer = refused
            with answer:
                result = read(answer.status, answer.headers, json.load(answer))
            if result is not None:
                return result
        except (OSError, ValueError, http.client.HTTPException):
            # No connection, or something between that does not speak HTTP or JSON.
            pass
        if attempt < ATTEMPTS:
            time.sleep(attempt * 0.25)
    return None
