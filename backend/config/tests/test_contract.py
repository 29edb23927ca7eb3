"""The contract, fuzzed: no input makes a 500, every answer is as documented, and the file is what the code says."""

import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection
from django.utils import timezone

from controlplane.accounts import selectors
from controlplane.accounts.models import Token
from controlplane.audit import export
from controlplane.audit.models import AuditEvent
from controlplane.core import event_stream
from testing.answers import contract

# Fewer on PostgreSQL, where only differences from SQLite remain to be found.
EXAMPLES = int(os.environ.get("FQC_TEST_EXAMPLES", "20" if connection.vendor == "sqlite" else "4"))
CONTRACT = Path(__file__).parents[2] / "openapi.yaml"
OPERATIONS = [
    f"{method.upper()} {path}"
    for path, methods in contract()["paths"].items()
    for method in methods
    if method != "parameters"
]


WRITING = ("POST", "PUT", "PATCH", "DELETE")
CHANGE_NOTHING = {
    ("POST", "/api/v1/changes/preview"),
    ("POST", "/api/v1/instances/{id}/cache/preview"),
    ("POST", "/api/v1/instances/{id}/cache/rules/preview"),
    ("POST", "/api/v1/instance-classes/custom"),  # if there is a class of that size already
    ("POST", "/api/v1/fleet-applies/preview"),
    ("POST", "/api/v1/expressions/evaluate"),
    ("POST", "/api/v1/templates/{id}/resolve"),
    ("POST", "/api/v1/alert-rules/preview"),
    ("DELETE", "/api/v1/sessions/others"),  # if there are no others
}


def test_the_contract_in_the_repository_is_what_the_code_says(tmp_path):
    call_command("spectacular", file=str(tmp_path / "openapi.yaml"), validate=True)
    assert (tmp_path / "openapi.yaml").read_text() == CONTRACT.read_text(), (
        "run: manage.py spectacular --file openapi.yaml"
    )


@pytest.fixture
def headers(admin, monkeypatch):
    """Yields an administrator's headers for the fuzzer. Requests share the connection that has the test's transaction.

    The token is looked up once and its use is stored once: repeating both takes a third of the time, and has its own
    tests.
    """
    Token.objects.update(last_used_at=timezone.now())
    monkeypatch.setattr(selectors, "token_find", cache(selectors.token_find))
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    for streaming in (event_stream, export):
        monkeypatch.setattr(streaming, "close_old_connections", lambda: None)
    # The client would read a stream until its end.
    whole = event_stream.stream
    monkeypatch.setattr(event_stream, "stream", lambda seen, wanted, holder: whole(seen, replace(wanted, seconds=0)))
    yield _headers(admin)
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def _headers(admin):
    # This client accepts compressed answers but does not decompress them.
    identity = {"Accept-Encoding": "identity"}
    return {"Authorization": admin._credentials["HTTP_AUTHORIZATION"], "If-Match": "*", **identity}


@pytest.mark.django_db
@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_operation_keeps_the_contract(operation, headers):
    # The fuzzer takes a second to import, and is needed where this test runs, not where it is collected.
    from config.tests.fuzzer import CHECKS, fuzz

    def keeps_the_contract(case):
        before = AuditEvent.objects.count()
        answer = case.call_and_validate(headers=headers, checks=CHECKS)
        is_done = answer.status_code < 300 and case.method in WRITING and (case.method, case.path) not in CHANGE_NOTHING
        may_be_repeated = any(name.lower() == "idempotency-key" for name in case.headers or {})
        is_on_record = AuditEvent.objects.count() > before
        assert is_on_record or not is_done or may_be_repeated, f"not on record: {case.method} {case.path}"

    fuzz(operation, keeps_the_contract, EXAMPLES)
