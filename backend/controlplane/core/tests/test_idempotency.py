from datetime import timedelta

import pytest
from django.conf import settings
from django.db import IntegrityError, OperationalError
from django.utils import timezone
from rest_framework.test import APIClient

from controlplane.accounts.models import AccessKey, Token, User
from controlplane.accounts.services import token_create
from controlplane.core import idempotency
from controlplane.core.errors import Conflict
from controlplane.core.idempotency import KEEP, STUCK_AFTER, _take_up, claim
from controlplane.core.models import KeptAnswer
from controlplane.core.request_context import Caller, acting_as
from controlplane.core.sealing import open_sealed
from controlplane.core.tasks import expire
from controlplane.metrics.tests.fleet import instance_make
from controlplane.parameters.models import Template
from testing.answers import contract

pytestmark = pytest.mark.django_db
WHO = Caller(actor_id="usr-1", authority="tok-1 viewer")
EVALUATE, EXPRESSION = "/api/v1/expressions/evaluate", {"expression": "{2*3}"}
BODY = {"name": "made-once", "values": {"long_query_time": "2"}}


def post(client, key, body=BODY, path="/api/v1/templates"):
    return client.post(path, body, HTTP_IDEMPOTENCY_KEY=key)


def templates():
    return Template.objects.filter(name="made-once").count()


def test_the_same_request_acts_once_and_is_answered_alike(operator):
    first, second = post(operator, "key-1"), post(operator, "key-1")
    assert first.status_code == second.status_code == 201
    assert first.json() == second.json()
    assert second.headers["Idempotency-Replayed"] == "true"
    assert templates() == 1


def test_another_request_under_the_same_key_is_refused(operator):
    post(operator, "key-1")
    answer = post(operator, "key-1", {**BODY, "name": "other"})
    assert (answer.status_code, answer.json()["code"]) == (422, "key_reused")


def test_keys_belong_to_their_caller(operator, viewer):
    post(operator, "key-1")
    assert post(viewer, "key-1").status_code == 403


def client_of(user, scope):
    with acting_as("test"):
        _, text = token_create(user, name=f"{scope} token", scope=scope)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return client


TOKENS, KEYS = "/api/v1/tokens", "/api/v1/access-keys"
REPORTERS = "/api/v1/instances/{id}/near-caches/tokens"
SECRETS = {TOKENS: "token", KEYS: "secret", REPORTERS: "token"}
STRONG = {"name": "ci", "scope": "admin"}


@pytest.mark.parametrize("path", [TOKENS, KEYS])
def test_a_key_is_worth_nothing_under_a_weaker_token_of_the_same_user(admin, path):
    assert post(admin, "key-1", STRONG, path).status_code == 201
    for scope in ("viewer", "operator"):
        answer = post(client_of(admin.user, scope), "key-1", STRONG, path)
        assert (answer.status_code, answer.json()["code"]) == (403, "denied")


def test_a_key_is_another_one_under_another_token_of_the_same_user(operator):
    first, second = post(operator, "key-1"), post(client_of(operator.user, "operator"), "key-1")
    assert (first.status_code, second.status_code, second.json()["code"]) == (201, 409, "name_taken")


def test_a_key_is_another_one_in_another_session_of_the_same_user(operator):
    sessions = [APIClient(), APIClient()]
    for session in sessions:
        session.force_login(operator.user)
    assert [post(each, "key-1").status_code for each in sessions] == [201, 409]
    again = post(sessions[0], "key-1")
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (201, "true")


def test_a_key_is_worth_nothing_once_the_role_is_lowered(operator):
    assert post(operator, "key-1").status_code == 201
    User.objects.update(role="viewer")
    assert post(operator, "key-1").status_code == 403


def test_whoever_is_not_logged_in_has_no_keys(outsider):
    login = {"username": "nobody", "password": "wrong"}
    for _ in range(2):
        answer = post(APIClient(), "key-1", login, "/api/v1/auth/session")
        assert (answer.status_code, "Idempotency-Replayed" in answer.headers) == (403, False)
    assert not KeptAnswer.objects.exists()


def test_a_secret_is_in_its_first_answer_alone_and_the_repeat_names_what_was_made(operator):
    instance = instance_make()
    for path, field in SECRETS.items():
        body = {"name": "ci"} if path == REPORTERS else {"name": "ci", "scope": "viewer"}
        asked = ("key-" + path, body, path.format(id=instance.pk))
        made = post(operator, *asked).json()
        again = post(operator, *asked)
        assert (again.status_code, again.json()["code"]) == (409, "secret_shown_once")
        assert made["id"] in again.json()["detail"]
        assert made[field] not in again.content.decode()
        for kept in KeptAnswer.objects.all():
            assert made[field] not in open_sealed(kept.answer_sealed, settings.SEALING_KEYS, kept.secret_context)
    assert (Token.objects.filter(name="ci").count(), AccessKey.objects.count()) == (2, 1)


def test_every_operation_whose_answer_is_shown_once_is_among_these():
    schemas = contract()
    found = set()
    for path, methods in schemas["paths"].items():
        answers = str(methods.get("post", {}).get("responses", {}))
        for name, schema in schemas["components"]["schemas"].items():
            texts = [str(field.get("description", "")) for field in schema.get("properties", {}).values()]
            if f"schemas/{name}'" in answers and any("which only this answer shows" in text for text in texts):
                found.add(path)
    assert found == set(SECRETS)


def test_answers_are_forgotten_after_a_day(operator):
    post(operator, "key-1")
    expire()
    assert KeptAnswer.objects.count() == 1
    KeptAnswer.objects.update(created_at=timezone.now() - KEEP - timedelta(seconds=1))
    expire()
    assert not KeptAnswer.objects.exists()


@pytest.mark.parametrize("hours", [-1, 1], ids=["an hour ago", "before the clock was set back"])
def test_what_a_process_left_undone_when_it_died_is_done_by_the_next_request(operator, hours):
    body = {"name": "ci", "scope": "viewer"}
    post(operator, "key-1", body, TOKENS)
    KeptAnswer.objects.update(status=None, made="", created_at=timezone.now() + timedelta(hours=hours))
    assert post(operator, "key-1", body, TOKENS).status_code == 201
    assert Token.objects.filter(name="ci").count() == 2


def test_while_the_first_is_at_work_the_second_is_told_so(operator):
    post(operator, "key-1")
    KeptAnswer.objects.update(status=None)
    answer = post(operator, "key-1")
    assert (answer.status_code, answer.json()["code"]) == (409, "in_progress")


def test_a_refusal_is_kept_too_as_the_problem_that_it_was(operator):
    first, second = (post(operator, "key-1", {"name": ""}) for _ in range(2))
    assert second.headers["Idempotency-Replayed"] == "true"
    assert (second.status_code, second.headers["Content-Type"]) == (400, "application/problem+json")
    assert second.json() == first.json()
    assert second.headers["Cache-Control"] == first.headers["Cache-Control"]


def test_headers_are_part_of_the_answer(operator):
    first, second = post(operator, "key-1"), post(operator, "key-1")
    assert (second.status_code, second.headers["Idempotency-Replayed"]) == (201, "true")
    assert second.headers["ETag"] == first.headers["ETag"] == '"1"'
    assert second.headers["Content-Type"] == first.headers["Content-Type"] == "application/json"


def test_what_no_check_of_who_asks_let_through_is_not_kept(outsider):
    for _ in range(2):
        answer = post(outsider, "key-1")
        assert (answer.status_code, "Idempotency-Replayed" in answer.headers) == (401, False)


@pytest.mark.parametrize("key", ["", "x" * 129, "with space", "ü"])
def test_a_key_that_is_none_is_refused(operator, key):
    assert post(operator, key).status_code == 400


def test_what_is_kept_is_not_kept_in_the_clear(operator):
    post(operator, "key-1")
    assert "made-once" not in str(KeptAnswer.objects.values())


def test_of_two_that_find_a_request_unanswered_one_does_it():
    kept = claim(WHO, "key-1", "f")
    KeptAnswer.objects.update(created_at=timezone.now() - 2 * STUCK_AFTER)
    kept.refresh_from_db()
    assert _take_up(KeptAnswer.objects.get(), "f").pk == kept.pk
    with pytest.raises(Conflict):
        _take_up(kept, "f")  # the stale row


def test_a_key_that_was_freed_between_two_looks_is_taken(monkeypatch):
    create = KeptAnswer.objects.create

    def taken_by_one_that_failed_since(**facts):
        monkeypatch.setattr(KeptAnswer.objects, "create", create)
        raise IntegrityError

    monkeypatch.setattr(KeptAnswer.objects, "create", taken_by_one_that_failed_since)
    assert claim(WHO, "key-1", "f").pk == KeptAnswer.objects.get().pk


def test_a_request_that_acted_and_lost_its_answer_does_not_act_again(operator, monkeypatch):
    """The answer fails after the act, as if the database connection was lost in between.

    A repeat is told what was made, and makes nothing.
    """
    from controlplane.parameters import views

    whole = views.with_etag

    def lost(*args):
        raise OperationalError("the database has gone away")

    monkeypatch.setattr(views, "with_etag", lost)
    assert post(operator, "key-1").status_code == 503
    monkeypatch.setattr(views, "with_etag", whole)
    answer = post(operator, "key-1")
    assert (answer.status_code, answer.json()["code"]) == (409, "answer_lost")
    assert Template.objects.get(name="made-once").pk in answer.json()["detail"]
    KeptAnswer.objects.update(status=None, created_at=timezone.now() - 2 * STUCK_AFTER)
    assert post(operator, "key-1").json()["code"] == "answer_lost"
    assert templates() == 1


def test_a_request_that_failed_before_it_acted_acts_when_it_is_repeated(operator, monkeypatch):
    from controlplane.parameters import services

    whole = services.audit_record

    def failing(*args, **facts):
        whole(*args, **facts)
        raise OperationalError("the database has gone away")

    monkeypatch.setattr(services, "audit_record", failing)
    assert post(operator, "key-1").status_code == 503
    monkeypatch.setattr(services, "audit_record", whole)
    assert post(operator, "key-1").status_code == 201
    assert templates() == 1


def test_of_requests_that_change_nothing_the_newest_answers_are_kept(operator, monkeypatch):
    monkeypatch.setattr(idempotency, "MOST_IDLE", 3)
    post(operator, "made")
    for number in range(5):
        assert post(operator, f"idle-{number}", EXPRESSION, EVALUATE).status_code == 200
    assert set(KeptAnswer.objects.values_list("key", flat=True)) == {"made", "idle-2", "idle-3", "idle-4"}
    assert post(operator, "idle-4", EXPRESSION, EVALUATE).headers["Idempotency-Replayed"] == "true"
    again = post(operator, "idle-0", EXPRESSION, EVALUATE)
    assert (again.status_code, "Idempotency-Replayed" in again.headers) == (200, False)
    assert post(operator, "made").headers["Idempotency-Replayed"] == "true"


def test_a_large_answer_to_a_request_that_changes_nothing_is_not_kept(operator):
    """A large refusal frees its key.

    Previews and refusals can be as large as the request, so a viewer could otherwise fill the database with them.
    """
    wrong = {"name": "made-once", "values": {f"no_such_parameter_{number}": "1" for number in range(900)}}
    refused = post(operator, "key-1", wrong)
    assert refused.status_code == 400 and len(refused.content) > idempotency.MOST_IDLE_CHARACTERS
    assert not KeptAnswer.objects.exists()
    assert post(operator, "key-1").status_code == 201
