from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from controlplane.accounts.models import LoginFailure, Token, User
from controlplane.accounts.services import token_create, user_create
from controlplane.audit.models import AuditEvent
from controlplane.core.request_context import acting_as
from testing.clients import PASSWORD

pytestmark = pytest.mark.django_db
SESSION = "/api/v1/auth/session"


@pytest.fixture
def alice():
    with acting_as("test"):
        return user_create(username="alice", password=PASSWORD, role="operator")


def browser():
    client = APIClient(enforce_csrf_checks=True)
    token = client.get(SESSION).json()["csrf_token"]
    client.credentials(HTTP_X_CSRFTOKEN=token)
    return client


def login(client, password=PASSWORD):
    answer = client.post(SESSION, {"username": "alice", "password": password})
    if answer.status_code == 200:
        client.credentials(HTTP_X_CSRFTOKEN=answer.json()["csrf_token"])
    return answer


def test_a_password_is_kept_as_argon2(alice):
    assert alice.password.startswith("argon2$argon2id$")


def test_log_in_work_and_log_out(alice):
    client = browser()
    assert client.get(SESSION).json()["is_authenticated"] is False
    assert login(client).json()["user"]["username"] == "alice"
    assert client.get("/api/v1/instances").status_code == 200
    assert client.delete(SESSION).status_code == 204
    assert client.get("/api/v1/instances").status_code == 401


def test_logging_in_and_writing_take_a_csrf_token(alice):
    bare = APIClient(enforce_csrf_checks=True)
    answer = bare.post(SESSION, {"username": "alice", "password": PASSWORD})
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")
    client = browser()
    login(client)
    client.credentials()
    answer = client.post("/api/v1/tokens", {"name": "x", "scope": "viewer"})
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")


def test_five_failures_lock_the_name_for_this_address(alice):
    client = browser()
    for _ in range(5):
        assert login(client, "wrong").json()["code"] == "wrong_credentials"
    assert login(client).json()["code"] == "locked_out"
    LoginFailure.objects.update(last_at=timezone.now() - timedelta(minutes=16))
    assert login(client).status_code == 200
    assert not LoginFailure.objects.exists()


def test_a_host_does_not_escape_the_lock_by_another_of_its_ipv6_addresses(alice):
    client = browser()
    for number in range(5):
        answer = client.post(
            SESSION, {"username": "alice", "password": "wrong"}, REMOTE_ADDR=f"2001:db8::{number + 1:x}"
        )
        assert answer.json()["code"] == "wrong_credentials"
    given = {"username": "alice", "password": PASSWORD}
    assert client.post(SESSION, given, REMOTE_ADDR="2001:db8::ffff:1").json()["code"] == "locked_out"
    assert client.post(SESSION, given, REMOTE_ADDR="2001:db8:0:1::1").status_code == 200
    assert {event.address for event in AuditEvent.objects.filter(action="login.failed")} >= {
        "2001:db8::1",
        "2001:db8::5",
    }


@pytest.mark.parametrize("addresses", [["2001:db8::{:x}"], ["::ffff:192.0.2.7", "192.0.2.7"]])
def test_log_ins_are_counted_by_host(addresses, outsider):
    answers = [
        outsider.post(SESSION, {}, REMOTE_ADDR=addresses[number % len(addresses)].format(number + 1)).status_code
        for number in range(30)
    ]
    assert 18 <= answers.count(400) + answers.count(403) <= 22 and answers[-1] == 429, answers


def test_unknown_names_answer_like_wrong_passwords(alice):
    client = browser()
    answer = client.post(SESSION, {"username": "nobody-here", "password": "x"})
    assert answer.json()["code"] == "wrong_credentials"


def test_failed_and_successful_log_ins_are_on_record_without_passwords(alice):
    client = browser()
    login(client, "wrong-secret-password")
    login(client)
    events = AuditEvent.objects.filter(action__startswith="login.")
    client.delete(SESSION)
    assert [(event.action, event.actor, event.actor_id) for event in events.order_by("created_at", "id")] == [
        ("login.failed", "anonymous", ""),
        ("login.succeeded", "alice", alice.pk),
        ("login.ended", "alice", alice.pk),
    ]
    assert "wrong-secret-password" not in str(list(events.values()))


def test_who_logs_out_without_being_logged_in_leaves_no_record(alice):
    client = browser()
    assert client.delete(SESSION).status_code == 204
    assert not AuditEvent.objects.filter(action="login.ended").exists()


def test_the_longest_that_a_token_may_be_good_for_is_told_and_kept(operator, settings):
    settings.TOKEN_LIFETIME_DAYS = 7
    assert operator.get(SESSION).json()["token_lifetime_days"] == 7
    for days, status in ((6, 201), (8, 400)):
        until = (timezone.now() + timedelta(days=days)).isoformat()
        made = operator.post("/api/v1/tokens", {"name": "ci", "scope": "viewer", "expires_at": until})
        assert made.status_code == status
    assert made.json()["errors"][0]["field"] == "expires_at"


def test_a_token_is_shown_once_and_kept_as_a_hash(operator):
    made = operator.post("/api/v1/tokens", {"name": "ci", "scope": "viewer"}).json()
    row = Token.objects.get(pk=made["id"])
    assert made["token"].startswith(row.prefix + "_")
    assert made["token"].split("_", 2)[2] not in str(vars(row))
    listed = operator.get("/api/v1/tokens").json()["items"]
    assert all("token" not in item for item in listed)


def test_a_tokens_scope_is_the_most_it_may_do(operator):
    text = operator.post("/api/v1/tokens", {"name": "reader", "scope": "viewer"}).json()["token"]
    reader = APIClient()
    reader.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    assert reader.get("/api/v1/instances").status_code == 200
    assert reader.post("/api/v1/instances", {}).status_code == 403
    stronger = reader.post("/api/v1/tokens", {"name": "up", "scope": "operator"})
    assert (stronger.status_code, stronger.json()["code"]) == (403, "denied")


@pytest.mark.parametrize("change", ["expired", "revoked", "inactive"])
def test_a_token_that_is_over_is_refused(alice, change):
    with acting_as("test"):
        _, text = token_create(alice, name="t", scope="viewer")
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    assert client.get("/api/v1/instances").status_code == 200
    if change == "inactive":
        User.objects.update(is_active=False)
    else:
        Token.objects.update(**{{"expired": "expires_at", "revoked": "revoked_at"}[change]: timezone.now()})
    assert client.get("/api/v1/instances").status_code == 401


@pytest.mark.parametrize("text", ["", "fqc_", "fqc_aaaaaaaa_" + "x" * 43, "bearer", "ü" * 30, "a b c"])
def test_what_is_no_token_is_refused(outsider, text):
    outsider.credentials(HTTP_AUTHORIZATION=f"Bearer {text}".encode())
    assert outsider.get("/api/v1/instances").status_code == 401


def test_the_last_admin_stays(admin):
    me = admin.get(f"/api/v1/users/{admin.user.pk}")
    answer = admin.delete(f"/api/v1/users/{admin.user.pk}", HTTP_IF_MATCH=me.headers["ETag"])
    assert (answer.status_code, answer.json()["code"]) == (409, "last_admin")


def test_weak_passwords_are_refused_by_field(admin):
    answer = admin.post("/api/v1/users", {"username": "bob", "password": "short", "role": "viewer"})
    assert answer.status_code == 400
    assert {error["field"] for error in answer.json()["errors"]} == {"password"}


def test_writing_a_user_takes_its_etag(admin):
    path = f"/api/v1/users/{admin.user.pk}"
    assert admin.patch(path, {"email": "a@example.com"}).status_code == 428
    assert admin.patch(path, {"email": "a@example.com"}, HTTP_IF_MATCH='"99"').status_code == 412
    assert admin.patch(path, {"email": "a@example.com"}, HTTP_IF_MATCH='"1"').headers["ETag"] == '"2"'


def test_an_address_that_tries_too_often_is_told_to_wait(outsider):
    answers = [outsider.post(SESSION, {"username": f"name-{number}", "password": "x"}) for number in range(20)]
    assert {answer.status_code for answer in answers} == {403}
    for number in range(20):  # if the minute ends during the test, some more requests are let in
        answer = outsider.post(SESSION, {"username": f"other-{number}", "password": "x"})
        if answer.status_code == 429:
            break
    assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
    assert int(answer.headers["Retry-After"]) > 0
