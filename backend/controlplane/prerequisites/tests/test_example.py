"""A statement with its literals: from the server that runs it, for those who may try statements."""

import threading
from contextlib import suppress

import pytest

from controlplane.audit.models import AuditEvent
from controlplane.gateway.errors import RefusedStatement
from controlplane.gateway.shapes import digest_of
from testing.workers import until

pytestmark = pytest.mark.django_db
STATEMENT = "SELECT 'a secret', SLEEP(600)"
RUNNING = "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO = %s"


@pytest.fixture
def running(shared_server):
    """Somebody runs it until the test is over."""
    server, owner = shared_server.connect(), shared_server.connect()

    def run():
        with suppress(RefusedStatement):  # it is killed in the end
            server.run(STATEMENT)

    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: owner.rows(RUNNING, [STATEMENT]), "it runs")
    yield
    for (number,) in owner.rows(RUNNING, [STATEMENT]):
        owner.run(f"KILL QUERY {number}")
    thread.join()
    server.close()
    owner.close()


def example(client, instance, digest):
    return client.get(f"/api/v1/instances/{instance.pk}/cache/queries/{digest}/example")


def test_who_may_try_statements_sees_literals_and_others_do_not(operator, viewer, instance, running):
    digest = digest_of(STATEMENT)
    found = example(operator, instance, digest).json()
    assert found == {"statement": STATEMENT, "database": None, "note": ""}
    [event] = AuditEvent.objects.filter(action="instance.statement_shown")
    assert (event.actor_id, event.target_id, event.after) == (operator.user.pk, instance.pk, {"digest": digest})
    answer = example(viewer, instance, digest)
    assert (answer.status_code, answer.json()["code"]) == (403, "denied")
    assert AuditEvent.objects.filter(action="instance.statement_shown").count() == 1


def test_a_statement_that_the_server_does_not_remember_says_what_would_help(operator, instance):
    found = example(operator, instance, "0" * 32).json()
    assert found["statement"] is None
    assert "GRANT SELECT ON `performance_schema`.`events_statements_history` TO" in found["note"]
