import pytest
from django.db import OperationalError
from django.test import Client

from controlplane.core.request_middleware import RequestContextMiddleware


def test_a_ready_process_says_so(outsider):
    assert outsider.get("/readyz").json() == {"status": "ok", "database": "ok", "disk": "ok"}


def test_an_unknown_address_answers_with_a_problem(outsider):
    answer = outsider.get("/api/v1/nothing-here")
    assert answer.status_code == 404
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["request_id"] == answer.headers["X-Request-ID"]


@pytest.mark.django_db
def test_a_database_that_fails_outside_of_the_views_is_a_503_with_a_time_to_come_again(monkeypatch):
    def fails(*_):
        raise OperationalError("no connection in time")

    monkeypatch.setattr(RequestContextMiddleware, "_answer", fails)
    answer = Client(raise_request_exception=False).get("/api/v1/instances")
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert int(answer.headers["Retry-After"]) > 0
