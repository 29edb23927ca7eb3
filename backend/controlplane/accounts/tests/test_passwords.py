"""The rules for passwords, and the change of one's own password."""

import pytest
from rest_framework.test import APIClient

from controlplane.accounts.access_key_services import access_key_create
from controlplane.accounts.models import AccessKey, LoginFailure, Session, Token, User
from controlplane.accounts.services import token_create, user_create
from controlplane.audit.models import AuditEvent
from controlplane.core.request_context import acting_as
from testing.clients import PASSWORD

pytestmark = pytest.mark.django_db
SESSION = "/api/v1/auth/session"
CHANGE = "/api/v1/auth/password"
OTHER = "seven green bicycles"


@pytest.fixture
def alice():
    with acting_as("test"):
        return user_create(username="alice", password=PASSWORD, role="operator", email="a.smith@example.com")


def logged_in(username="alice", password=PASSWORD):
    client = APIClient()
    answer = client.post(SESSION, {"username": username, "password": password})
    assert answer.status_code == 200, answer.json()
    return client


def change(client, new=OTHER, current=PASSWORD, **more):
    return client.post(CHANGE, {"current_password": current, "new_password": new, **more})


def may_read(client):
    return client.get("/api/v1/instances").status_code == 200


@pytest.mark.parametrize(
    ("password", "what"),
    [
        ("elevenchars", "at least 12"),
        ("ﬀﬀﬀﬀﬀ", "at least 12"),  # ten letters once normalised
        (" " * 12, "not only spaces"),
        ("\u3000" * 6 + "\u200b" * 6, "not only spaces"),
        ("qwertyuiop123", "most common"),
        ("QwertyUiop123", "most common"),
        ("Bob.Builder-2026", "besides the user name"),
        ("bob@builder.example1", "besides the user name"),
        ("FastQueryCache2026", "besides the user name"),
        ("fast query cache!", "besides the user name"),
        ("x" * 257, "256"),
    ],
)
def test_a_password_that_is_guessed_at_once_is_refused_and_the_field_says_what_to_do(admin, password, what):
    body = {"username": "bob", "email": "bob@builder.example", "password": password, "role": "viewer"}
    answer = admin.post("/api/v1/users", body)
    assert answer.status_code == 400
    assert {error["field"] for error in answer.json()["errors"]} == {"password"}
    assert what in answer.json()["errors"][0]["detail"]


@pytest.mark.parametrize(
    "password",
    [
        "zvmxqpwotkdj",
        " blanks  around it ",
        "twelve chars",
        "bob likes nine blue cats",
        "密码" * 6,
        "w" * 64,
        "long words " * 23,
    ],
)
def test_any_other_of_12_to_256_characters_is_taken_whole(admin, password):
    body = {"username": "bob", "email": "bob@builder.example", "password": password, "role": "viewer"}
    assert admin.post("/api/v1/users", body).status_code == 201
    logged_in("bob", password)
    cut = APIClient().post(SESSION, {"username": "bob", "password": password[:-1]})
    assert cut.json()["code"] == "wrong_credentials"


@pytest.mark.parametrize("typed", ["caf\u00e9 au lait ﬁne", "cafe\u0301 au lait ﬁne", "cafe\u0301 au lait fine"])
def test_a_password_is_the_same_however_a_keyboard_writes_it(admin, typed):
    body = {"username": "bob", "password": "caf\u00e9 au lait ﬁne", "role": "viewer"}
    admin.post("/api/v1/users", body)
    logged_in("bob", typed)


@pytest.mark.parametrize("old", ["short", "ﬁsh and chips"])
def test_a_password_from_before_the_rules_still_logs_in(alice, old):
    alice.set_password(old)
    alice.save()
    client = logged_in(password=old)
    assert change(client, current=old).status_code == 200


def test_everybody_changes_his_own_password_and_only_his_other_sessions_end(alice):
    here, elsewhere, other = logged_in(), logged_in(), APIClient()
    with acting_as("test"):
        bob = user_create(username="bob", password=PASSWORD, role="viewer")
        _, text = token_create(alice, name="ci", scope="viewer")
        access_key_create(alice, name="rpc", scope="viewer", held="viewer")
    bobs = logged_in("bob")
    other.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    answer = change(here)
    assert (answer.status_code, answer.json()) == (200, {"ended": {"sessions": 1, "tokens": 0, "access_keys": 0}})
    assert [may_read(each) for each in (here, elsewhere, other, bobs)] == [True, False, True, True]
    assert Session.objects.filter(user=alice).count() == Session.objects.filter(user=bob).count() == 1
    assert APIClient().post(SESSION, {"username": "alice", "password": PASSWORD}).status_code == 403
    logged_in(password=OTHER)
    event = AuditEvent.objects.get(action="user.password_changed")
    assert (event.actor, event.target_name, event.after) == ("alice", "alice", {"ended_sessions": 1})


def test_tokens_end_with_the_old_password_by_choice_but_for_the_one_that_asks(alice):
    with acting_as("test"):
        token, text = token_create(alice, name="mine", scope="viewer")
        token_create(alice, name="lost", scope="viewer")
        access_key_create(alice, name="rpc", scope="viewer", held="viewer")
    console, asking = logged_in(), APIClient()
    asking.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    assert change(asking, keep_tokens=False).json()["ended"] == {"sessions": 1, "tokens": 1, "access_keys": 1}
    assert [may_read(asking), may_read(console)] == [True, False]
    assert list(Token.objects.filter(revoked_at=None)) == [token]
    assert not AccessKey.objects.exists()


def test_a_new_password_of_ones_own_keeps_the_rules(alice):
    answer = change(logged_in(), new="alicealice12")
    assert [error["field"] for error in answer.json()["errors"]] == ["new_password"]
    assert User.objects.get(pk=alice.pk).check_password(PASSWORD)


def test_guessing_the_present_password_locks_as_guessing_at_log_in_does(alice):
    client = logged_in()
    for _ in range(5):
        answer = change(client, current="a guess of it")
        assert answer.json()["errors"][0] == {
            "field": "current_password",
            "code": "wrong_password",
            "detail": "this is not your current password",
        }
    assert change(client).json()["code"] == "locked_out"
    assert APIClient().post(SESSION, {"username": "alice", "password": PASSWORD}).json()["code"] == "locked_out"
    refused = AuditEvent.objects.filter(action="user.password_refused", actor="alice")
    assert refused.count() == 5
    assert "a guess of it" not in str(list(refused.values()))


def test_who_asks_too_often_is_told_to_wait(viewer):
    codes = {change(viewer, current="x").json()["code"] for _ in range(45)}
    assert "rate_limited" in codes


def test_changing_ones_password_takes_a_csrf_token(alice):
    client = APIClient(enforce_csrf_checks=True)
    client.credentials(HTTP_X_CSRFTOKEN=client.get(SESSION).json()["csrf_token"])
    client.post(SESSION, {"username": "alice", "password": PASSWORD})
    client.credentials()
    assert change(client).json()["code"] == "csrf_failed"


def test_the_session_that_changed_it_gets_a_new_key(alice):
    client = logged_in()
    before = client.cookies["sessionid"].value
    change(client)
    assert client.cookies["sessionid"].value != before
    assert not Session.objects.filter(session_key=before).exists()
    assert may_read(client)


def test_names_are_the_same_in_any_case_also_for_the_lock(alice, admin):
    logged_in("ALICE")
    taken = admin.post("/api/v1/users", {"username": "Alice", "password": PASSWORD, "role": "viewer"})
    assert (taken.status_code, taken.json()["code"]) == (409, "name_taken")
    for name in ("alice", "Alice", "ALICE", "aLICE", "alicE"):
        APIClient().post(SESSION, {"username": name, "password": "wrong"})
    assert APIClient().post(SESSION, {"username": "Alice", "password": PASSWORD}).json()["code"] == "locked_out"
    assert list(LoginFailure.objects.values_list("username", "count")) == [("alice", 5)]
