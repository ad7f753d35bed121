"""The tour of the README, by the client that openapi-python-client makes.

Arguments: the service's URL and the folder of the client. The token is in TAPDESK_ADMIN_TOKEN.
"""

import base64
import os
import sys
from urllib.parse import parse_qs, urlsplit

base, folder = sys.argv[1:]
sys.path.insert(0, folder)

from tapdesk_client import AuthenticatedClient, Client
from tapdesk_client.api.experiences import post_experiences
from tapdesk_client.api.public import (
    get_t_slug,
    get_v2_interactions_rk_payload,
    post_v2_interactions_data,
)
from tapdesk_client.api.simulator import post_simulator_inlays, post_simulator_inlays_id_tap
from tapdesk_client.api.tags import get_tags, patch_tags_id, post_tags
from tapdesk_client.api.verification import post_verification
from tapdesk_client.models import (
    ErrorEnvelope,
    ExperienceKind,
    NewExperience,
    NewVirtualInlay,
    Payload,
    Properties,
    Record,
    RedirectExperience,
    SavedTag,
    SuccessEnvelope,
    TagFields,
    TagPatch,
    VariableValues,
    VerificationRequest,
    VirtualInlay,
    VirtualTap,
)

admin = AuthenticatedClient(base_url=base, token=os.environ["TAPDESK_ADMIN_TOKEN"])
visitor = Client(base_url=base)


def properties(**values):
    return Properties.from_dict(values)


def tap(url):
    """Where a tap of somebody new leads, and its key as clients send it.

    A client keeps cookies, and with the cookie of a tap the same URL is a reload.
    """
    visitor = Client(base_url=base)
    url = urlsplit(url)
    code = {name: values[0] for name, values in parse_qs(url.query).items()}
    answer = get_t_slug.sync_detailed(url.path.removeprefix("/t/"), client=visitor, **code)
    assert answer.status_code == 302, answer
    location = answer.headers["location"]
    rk = parse_qs(urlsplit(location).query)["rk"][0]
    return location, base64.b64encode(rk.encode()).decode()


def payload(rk):
    payload = get_v2_interactions_rk_payload.sync(client=visitor, rk=rk)
    assert isinstance(payload, Payload), payload
    return payload


experience = post_experiences.sync(
    client=admin,
    body=NewExperience(
        name="Register",
        kind=ExperienceKind.REDIRECT,
        target_url="https://example.com/register?sn={{tag:attribute:sku}}",
    ),
)
assert isinstance(experience, RedirectExperience), experience

inlay = post_simulator_inlays.sync(
    client=admin,
    body=NewVirtualInlay(
        tag=TagFields(
            name="Bottle", experience_id=experience.id, variables=properties(registered="false")
        )
    ),
)
assert isinstance(inlay, VirtualInlay), inlay
url = post_simulator_inlays_id_tap.sync(inlay.id, client=admin, body=VirtualTap()).url

_, rk = tap(url)
assert payload(rk).tag_verified is True
record = Record(rolling_key=rk, data=VariableValues.from_dict({"registered": "true"}))
updated = post_v2_interactions_data.sync(client=visitor, body=record)
assert isinstance(updated, SuccessEnvelope), updated
again = post_v2_interactions_data.sync(client=visitor, body=record)
assert isinstance(again, ErrorEnvelope), again

# A copy of the URL gets a key as well, and its payload says what it is.
_, rk = tap(url)
assert payload(rk).tag_verified is False
assert get_v2_interactions_rk_payload.sync(client=visitor, rk="invalid") == []
verification = post_verification.sync(client=admin, body=VerificationRequest(url=url))
assert verification.reason == "replayed", verification

tag = post_tags.sync(
    client=admin,
    body=TagFields(
        name="Bottle 41",
        experience_id=experience.id,
        attributes=properties(sku="A-1"),
        variables=properties(registered="false"),
    ),
)
assert isinstance(tag, SavedTag), tag
location, _ = tap(f"{base}/t/{tag.slug}")
assert location.startswith("https://example.com/register?sn=A-1&rk="), location
changed = patch_tags_id.sync(tag.id, client=admin, body=TagPatch(title="A red one"))
assert changed.title == "A red one" and changed.name == "Bottle 41", changed
page = get_tags.sync(client=admin, count=True)
assert [listed.id for listed in page.items] == [tag.id] and page.count == 1, page
print("openapi-python-client: the tour is done")
