from datetime import timedelta

import pytest
from django.db import IntegrityError
from django.utils import timezone

from controlplane.accounts.models import Token
from controlplane.core.errors import Conflict
from controlplane.core.idempotency import STUCK_AFTER, _take_up, claim
from controlplane.core.models import KeptAnswer

pytestmark = pytest.mark.django_db
BODY = {"name": "ci", "scope": "viewer"}


def post(client, key, body=BODY):
    return client.post("/api/v1/tokens", body, HTTP_IDEMPOTENCY_KEY=key)


def test_the_same_request_acts_once_and_is_answered_alike(operator):
    first, second = post(operator, "key-1"), post(operator, "key-1")
    assert first.status_code == second.status_code == 201
    assert first.json()["id"] == second.json()["id"]
    assert second.headers["Idempotency-Replayed"] == "true"
    assert Token.objects.filter(name="ci").count() == 1


def test_another_request_under_the_same_key_is_refused(operator):
    post(operator, "key-1")
    answer = post(operator, "key-1", {**BODY, "name": "other"})
    assert (answer.status_code, answer.json()["code"]) == (422, "key_reused")


def test_keys_belong_to_their_caller(operator, viewer):
    assert post(operator, "key-1").json()["id"] != post(viewer, "key-1").json()["id"]


@pytest.mark.parametrize("hours", [-1, 1], ids=["an hour ago", "before the clock was set back"])
def test_what_a_dead_process_left_unanswered_is_done_by_the_next_request(operator, hours):
    post(operator, "key-1")
    KeptAnswer.objects.update(status=None, created_at=timezone.now() + timedelta(hours=hours))
    assert post(operator, "key-1").status_code == 201
    assert Token.objects.filter(name="ci").count() == 2


def test_while_the_first_is_at_work_the_second_is_told_so(operator):
    post(operator, "key-1")
    KeptAnswer.objects.update(status=None)
    answer = post(operator, "key-1")
    assert (answer.status_code, answer.json()["code"]) == (409, "in_progress")


def test_a_refusal_is_kept_too_as_the_problem_that_it_was(operator):
    first, second = post(operator, "key-1", {"name": "x"}), post(operator, "key-1", {"name": "x"})
    assert second.headers["Idempotency-Replayed"] == "true"
    assert (second.status_code, second.headers["Content-Type"]) == (400, "application/problem+json")
    assert second.json() == first.json()
    assert second.headers["Cache-Control"] == first.headers["Cache-Control"]


def test_headers_are_part_of_the_answer(operator):
    body = {"name": "made-once", "values": {"long_query_time": "2"}}
    first, second = (operator.post("/api/v1/templates", body, HTTP_IDEMPOTENCY_KEY="key-1") for _ in range(2))
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


def test_secrets_in_a_kept_answer_are_not_kept_in_the_clear(operator):
    made = post(operator, "key-1").json()
    assert made["token"] not in str(KeptAnswer.objects.values())


def test_of_two_that_find_a_request_unanswered_one_does_it():
    kept = claim("usr-1", "key-1", "f")
    KeptAnswer.objects.update(created_at=timezone.now() - 2 * STUCK_AFTER)
    kept.refresh_from_db()
    assert _take_up(KeptAnswer.objects.get(), "f").pk == kept.pk
    with pytest.raises(Conflict):
        _take_up(kept, "f")  # as it was read before


def test_a_key_that_was_freed_between_two_looks_is_taken(monkeypatch):
    create = KeptAnswer.objects.create

    def taken_by_one_that_failed_since(**facts):
        monkeypatch.setattr(KeptAnswer.objects, "create", create)
        raise IntegrityError

    monkeypatch.setattr(KeptAnswer.objects, "create", taken_by_one_that_failed_since)
    assert claim("usr-1", "key-1", "f").pk == KeptAnswer.objects.get().pk
