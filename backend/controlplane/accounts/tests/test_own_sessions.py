"""A user sees where he is logged in, and ends what he does not know."""

import pytest
from rest_framework.test import APIClient

from controlplane.accounts.models import Session
from controlplane.accounts.services import token_create, user_create
from controlplane.audit.models import AuditEvent
from controlplane.core.request_context import acting_as
from testing.clients import PASSWORD

pytestmark = pytest.mark.django_db
SESSIONS = "/api/v1/sessions"


@pytest.fixture
def alice():
    return person("alice")


def person(username):
    with acting_as("test"):
        return user_create(username=username, password=PASSWORD, role="viewer")


def logged_in(user, browser="Firefox", address="192.0.2.7"):
    client = APIClient(HTTP_USER_AGENT=browser, REMOTE_ADDR=address)
    answer = client.post("/api/v1/auth/session", {"username": user.username, "password": PASSWORD})
    assert answer.status_code == 200, answer.json()
    return client


def listed(client):
    answer = client.get(SESSIONS)
    assert answer.status_code == 200, answer.json()
    return answer.json()["items"]


def test_a_user_sees_his_own_sessions_and_which_of_them_he_uses(alice):
    here, _ = logged_in(alice), logged_in(alice, "Safari", "198.51.100.1")
    logged_in(person("bob"))
    found = listed(here)
    assert sorted((each["browser"], each["address"], each["is_current"]) for each in found) == [
        ("Firefox", "192.0.2.7", True),
        ("Safari", "198.51.100.1", False),
    ]
    assert all(each["logged_in_at"] < each["expires_at"] for each in found)


def test_a_sessions_key_is_told_to_nobody(alice):
    here = logged_in(alice)
    told = here.get(SESSIONS).content.decode()
    [other] = [each["id"] for each in listed(here)]
    assert here.delete(f"{SESSIONS}/{other}").status_code == 204
    told += str(AuditEvent.objects.get(action="user.session_ended").before)
    assert here.cookies["sessionid"].value not in told


def test_a_session_that_its_user_ends_lets_nobody_in_any_more(alice):
    here, there = logged_in(alice), logged_in(alice, "Safari")
    [foreign] = [each for each in listed(here) if not each["is_current"]]
    assert here.delete(f"{SESSIONS}/{foreign['id']}").status_code == 204
    assert there.get("/api/v1/instances").status_code == 401
    assert here.get("/api/v1/instances").status_code == 200
    event = AuditEvent.objects.get(action="user.session_ended")
    assert (event.actor, event.target_name) == ("alice", "alice")
    assert (event.before["session"], event.before["browser"]) == (foreign["id"], "Safari")
    assert here.delete(f"{SESSIONS}/{foreign['id']}").status_code == 404


def test_nobody_ends_the_session_of_another(alice, admin):
    here = logged_in(alice)
    [mine] = listed(here)
    assert admin.delete(f"{SESSIONS}/{mine['id']}").status_code == 404
    assert here.get("/api/v1/instances").status_code == 200


def test_a_token_lists_the_sessions_of_its_user(alice):
    logged_in(alice)
    with acting_as("test"):
        _, text = token_create(alice, name="cli", scope="viewer")
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    assert [each["is_current"] for each in listed(client)] == [False]


def test_a_session_from_before_this_was_noted_is_listed(alice):
    client = APIClient()
    client.force_login(alice)
    assert Session.objects.get().user == alice
    assert [(each["browser"], each["logged_in_at"]) for each in listed(client)] == [(None, None)]


def test_a_user_ends_all_other_sessions_of_his_at_once(alice):
    here, others, bob = logged_in(alice), [logged_in(alice, "Safari"), logged_in(alice)], logged_in(person("bob"))
    answer = here.delete(f"{SESSIONS}/others")
    assert (answer.status_code, answer.json()) == (200, {"sessions": 2})
    assert [each.get("/api/v1/instances").status_code for each in (here, bob, *others)] == [200, 200, 401, 401]
    event = AuditEvent.objects.get(action="user.sessions_ended")
    assert (event.actor, event.target_name) == ("alice", "alice")
    assert sorted(each["browser"] for each in event.before["sessions"]) == ["Firefox", "Safari"]
    assert here.delete(f"{SESSIONS}/others").json() == {"sessions": 0}
    assert AuditEvent.objects.filter(action="user.sessions_ended").count() == 1


def test_a_token_ends_all_sessions_of_its_user(alice):
    here = logged_in(alice)
    with acting_as("test"):
        _, text = token_create(alice, name="cli", scope="viewer")
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    assert client.delete(f"{SESSIONS}/others").json() == {"sessions": 1}
    assert here.get("/api/v1/instances").status_code == 401


def test_what_was_under_way_while_the_session_got_another_cookie_does_not_take_that_away(alice):
    here, under_way = logged_in(alice), APIClient()
    under_way.cookies["sessionid"] = here.cookies["sessionid"].value
    change = {"current_password": PASSWORD, "new_password": "another phrase of words"}
    assert here.post("/api/v1/auth/password", change).status_code == 200
    late = under_way.get("/api/v1/instances")
    assert (late.status_code, "sessionid" in late.cookies) == (401, False)
    left = here.delete("/api/v1/auth/session")
    assert (left.status_code, left.cookies["sessionid"].value) == (204, "")
