"""A reader of events whose access ends gets no more events after at most a second."""

import http.client
from urllib.parse import urlsplit

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from controlplane.accounts.models import User
from controlplane.accounts.services import token_revoke
from controlplane.core.events import event_publish
from controlplane.core.request_context import acting_as
from testing.clients import client_as

pytestmark = pytest.mark.django_db(transaction=True)


def open_stream(url, headers):
    asking = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    asking.request("GET", "/api/v1/events", headers=headers)
    answer = asking.getresponse()
    assert answer.status == 200
    read_block(answer)
    return answer


def read_block(answer):
    """Returns the lines of the event stream up to the next empty one; none if the stream has ended."""
    lines = []
    while line := answer.readline().strip():
        lines.append(line)
    return lines


def by_token(client):
    return {"Authorization": client._credentials["HTTP_AUTHORIZATION"]}


def by_session(user):
    browser = APIClient()
    browser.force_login(user)
    return {"Cookie": f"sessionid={browser.cookies['sessionid'].value}"}


def revoke(user):
    with acting_as("test"):
        token_revoke(user.tokens.get())


ENDS = {
    "its token is revoked": revoke,
    "its token expires": lambda user: user.tokens.update(expires_at=timezone.now()),
    "the user is disabled": lambda user: User.objects.filter(pk=user.pk).update(is_active=False),
    "the role is lowered": lambda user: User.objects.filter(pk=user.pk).update(role="viewer"),
    "the user is deleted": lambda user: user.delete(),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_stream_ends_when(web, end):
    client, other = client_as("operator"), client_as("operator")
    url = web()
    stream, others = open_stream(url, by_token(client)), open_stream(url, by_token(other))
    event_publish("change", "before", {})
    assert b"before" in read_block(stream)[2]
    ENDS[end](client.user)
    assert read_block(stream) == []  # on failure the stream would stay open for ten minutes
    event_publish("change", "after", {})
    assert [b"after" in block[2] for block in (read_block(others), read_block(others))] == [False, True]


def test_a_stream_of_a_session_ends_with_the_session(web):
    user = client_as("operator").user
    first, second = by_session(user), by_session(user)
    url = web()
    streams = [open_stream(url, each) for each in (first, second)]
    user.sessions.get(session_key=first["Cookie"].split("=")[1]).delete()
    assert read_block(streams[0]) == []
    event_publish("change", "after", {})
    assert b"after" in read_block(streams[1])[2]
