"""Fixtures for pytest: a service for each run, and an inlay for each test."""

import pytest

from .dev import Inlay, Service, TapdeskError, Visit, start, visit

__all__ = ["Inlay", "Service", "TapdeskError", "Visit", "start", "visit"]


def pytest_addoption(parser):
    group = parser.getgroup("tapdesk")
    group.addoption(
        "--tapdesk-service",
        metavar="FILE",
        help="the program tapdesk-service; by default the variable TAPDESK_SERVICE, or the one in PATH",
    )
    parser.addini("tapdesk_seed", "the seed of the service's world, or none for the time of this machine", default="1")
    parser.addini("tap_page", "the URL of the page that taps open")


@pytest.fixture(scope="session")
def service(pytestconfig):
    """The running service of this run. An application under test gets its address as `service.url`."""
    seed = pytestconfig.getini("tapdesk_seed")
    running = start(pytestconfig.getoption("--tapdesk-service"), None if seed == "none" else int(seed))
    try:
        yield running
    finally:
        running.end()


@pytest.fixture
def tap_page(pytestconfig):
    """The URL of the page that taps open. Override it where the address is known only in the test."""
    page = pytestconfig.getini("tap_page")
    if not page:
        raise TapdeskError(
            "name the page that taps open: as tap_page in the configuration of pytest, or in a fixture of that name"
        )
    return page


@pytest.fixture
def tap_tag():
    """Members of the inlay's tag, as POST /admin/v1/tags takes them. Override it to set others."""
    return {}


@pytest.fixture
def inlay(service, tap_page, tap_tag):
    """A new virtual inlay, on a tag of its own."""
    return service.inlay(tap_page, tap_tag)
