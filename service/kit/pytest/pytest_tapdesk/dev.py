"""A service of `tapdesk-service dev` and its inlays. Standard library only."""

import json
import os
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

# How long a start may take, in seconds. It takes under 0.2, but tests share their machine.
START = 60
# How long the service may take to end before it is killed, in seconds.
END = 10
# A moment longer than a rolling key is valid (specification 8), in milliseconds.
EXPIRY = 300_001


class TapdeskError(Exception):
    """An error of the service or of its use, in a sentence."""


class Visit(NamedTuple):
    """A URL that was opened without a browser."""

    status: int
    # Where it leads to; None if it leads nowhere.
    location: str | None
    # The rolling key in that address; None if there is none.
    rk: str | None


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


# No proxy: the service is on this machine.
_http = urllib.request.build_opener(_NoRedirect, urllib.request.ProxyHandler({}))


def _ask(request):
    """The answer to a request, whatever its status."""
    try:
        return _http.open(request, timeout=START)
    except urllib.error.HTTPError as answer:
        return answer


def visit(url):
    """Opens a URL like a phone that shows no page."""
    with _ask(urllib.request.Request(url, headers={"User-Agent": "Mozilla/5.0"})) as answer:
        location = answer.headers["Location"]
        rk = parse_qs(urlsplit(location or "").query).get("rk", [None])[0]
        return Visit(answer.status, location, rk)


class Service:
    """A running service."""

    def __init__(self, process, line):
        self._process = process
        self._experiences = {}
        self.url = line["url"]
        self.token = line["token"]
        self.seed = line["seed"]
        self.tags = line["tags"]

    def call(self, method, path, body=None):
        """Calls the admin API; `path` is the part after /admin/v1."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/admin/v1{path}", data, headers, method=method)
        with _ask(request) as answer:
            text = answer.read().decode()
            if answer.status >= 400:
                raise TapdeskError(f"{method} {path} answered {answer.status}: {text}")
            return json.loads(text) if text else None

    def advance(self, seconds):
        """Moves the clock forward."""
        self.call("POST", "/clock", {"advance_ms": round(seconds * 1000)})

    def inlay(self, page, tag=None):
        """A new virtual inlay, on a tag of its own whose taps open `page`."""
        members = {"name": "Bottle", "variables": {"registered": "false"}, "experience_id": self._lead_to(page)}
        made = self.call("POST", "/simulator/inlays", {"tag": members | (tag or {})})
        return Inlay(self, made["id"], made["uid"], self.call("GET", f"/tags/{made['tag_id']}"))

    def _lead_to(self, page):
        if not self._experiences:
            self.call("PATCH", "/settings", {"simulated_targets": "real"})
        if page not in self._experiences:
            experience = {"name": page[:200], "kind": "redirect", "target_url": page}
            self._experiences[page] = self.call("POST", "/experiences", experience)["id"]
        return self._experiences[page]

    def end(self):
        """Ends the service."""
        self._process.stdin.close()
        try:
            self._process.wait(END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


class Inlay:
    """A virtual inlay. Each method that taps is given the page of a browser, such as Playwright's, and returns what its
    `goto` does. Without a page it returns a `Visit`."""

    def __init__(self, service, id, uid, tag):
        self._service = service
        self.id = id
        self.uid = uid
        # As the API shows it, before its first tap.
        self.tag = tag

    def url(self, **options):
        """The URL of the next tap. It verifies once. Options are those of POST /admin/v1/simulator/inlays/{id}/tap."""
        return self._service.call("POST", f"/simulator/inlays/{self.id}/tap", options)["url"]

    def tap(self, page=None):
        """A genuine tap."""
        return _open(self.url(), page)

    def replayed(self, page=None):
        """A genuine URL that was opened before."""
        url = self.url()
        visit(url)
        return _open(url, page)

    def forged(self, page=None):
        """A URL whose MAC is wrong, as from somebody without the key."""
        return _open(self.url(tamper=True), page)

    def cloned(self, page=None):
        """A code that was copied from the genuine inlay, whose counter has risen since."""
        copied = self.url()
        visit(self.url())
        return _open(copied, page)

    def expired(self, page=None):
        """A genuine tap whose page is opened after the rolling key has expired. It moves the service's clock."""
        tapped = visit(self.url())
        self._service.advance(EXPIRY / 1000)
        return tapped if page is None else page.goto(tapped.location)

    def variables(self):
        """The present variables of the tag."""
        return self._service.call("GET", f"/tags/{self.tag['id']}")["variables"]


def _open(url, page):
    return visit(url) if page is None else page.goto(url)


def start(command=None, seed=None):
    """Starts a service, which ends with `end()`, or with this process."""
    command = command or os.environ.get("TAPDESK_SERVICE") or "tapdesk-service"
    arguments = [command, "dev", "--until-stdin-closes", *([] if seed is None else ["--seed", str(seed)])]
    # A file, which never fills up as a pipe does that nobody reads.
    with tempfile.TemporaryFile() as log:
        try:
            process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        except FileNotFoundError:
            raise TapdeskError(
                f"{command} is not found. Install the service, or name its path with --tapdesk-service or in the "
                "variable TAPDESK_SERVICE."
            ) from None
        timer = threading.Timer(START, process.kill)
        timer.start()
        line = process.stdout.readline()
        timer.cancel()
        if line:
            return Service(process, json.loads(line))
        process.communicate()
        log.seek(0)
        raise TapdeskError(f"{command} dev did not start: {log.read().decode(errors='replace').strip()}")
