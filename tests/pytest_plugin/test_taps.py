"""Taps of a shop's tests, whose server asks about them with the helper of the page kit."""

import pytest
import pytest_tapdesk
import tapdesk

pytest_plugins = ["pytester"]

PAGE = "https://shop.example/product"


class Page:
    """Stands in for the page of a browser."""

    def goto(self, url):
        self.url = url
        return pytest_tapdesk.visit(url) if "/t/" in url else None


def test_a_genuine_tap_registers_the_product(service, inlay):
    tapped = inlay.tap()
    assert (tapped.status, tapped.location) == (302, f"{PAGE}?rk={tapped.rk}")
    assert tapdesk.tap(service.url, tapped.rk)["verified"] is True
    assert tapdesk.update(service.url, tapped.rk, {"registered": "true"})["reason"] == "saved"
    assert inlay.variables() == {"registered": "true"}


@pytest.mark.parametrize("how", ["replayed", "forged", "cloned"])
def test_a_tap_that_is_not_genuine_is_not_verified(service, inlay, how):
    for tapped in (getattr(inlay, how)(), getattr(inlay, how)(Page())):
        assert tapdesk.tap(service.url, tapped.rk)["verified"] is False
    # The genuine inlay is not harmed.
    assert tapdesk.tap(service.url, inlay.tap().rk)["verified"] is True


def test_an_expired_key_is_no_key(service, inlay):
    assert tapdesk.tap(service.url, inlay.expired().rk)["reason"] == "expired"
    page = Page()
    inlay.expired(page)
    assert page.url.startswith(f"{PAGE}?rk=")
    assert tapdesk.tap(service.url, page.url.partition("rk=")[2])["reason"] == "expired"


@pytest.fixture
def tap_tag(request):
    return getattr(request, "param", {})


@pytest.mark.parametrize("tap_tag", [{"name": "Grand Cru", "variables": {}}], indirect=True)
def test_a_tag_has_the_members_that_a_test_sets(inlay):
    assert (inlay.tag["name"], inlay.variables()) == ("Grand Cru", {})


def test_the_world_is_that_of_its_seed(service):
    assert service.seed == 1
    first, second = (pytest_tapdesk.start(seed=7) for _ in range(2))
    try:
        assert first.token == second.token
        assert first.inlay(PAGE).uid == second.inlay(PAGE).uid
    finally:
        first.end()
        second.end()
    with pytest.raises(OSError):
        pytest_tapdesk.visit(first.url)


def test_a_service_that_is_missing_or_refuses_says_so(service):
    with pytest.raises(pytest_tapdesk.TapdeskError, match="/no/service is not found.*TAPDESK_SERVICE"):
        pytest_tapdesk.start("/no/service")
    with pytest.raises(pytest_tapdesk.TapdeskError, match="dev did not start: .*--seed"):
        pytest_tapdesk.start(seed=2**32)
    with pytest.raises(pytest_tapdesk.TapdeskError, match="GET /no-such-place answered 404"):
        service.call("GET", "/no-such-place")


def test_a_missing_page_is_named(pytester):
    pytester.makepyfile("def test_tap(inlay): inlay.tap()")
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.stdout.fnmatch_lines(["*name the page that taps open*"])
