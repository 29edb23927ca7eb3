"""A statement with its literals: from the server that runs it, for those who may try statements."""

import threading
from contextlib import suppress
from pathlib import Path

import pytest

from controlplane.audit.models import AuditEvent
from controlplane.fleet.models import Instance
from controlplane.gateway.errors import RefusedStatement
from controlplane.gateway.shapes import digest_of
from controlplane.prerequisites.example import LONGEST_BYTES, MOST_CHARACTERS, OPTIONS, first
from testing.servers import CONFIGURATION, row_for
from testing.workers import until

pytestmark = pytest.mark.django_db
STATEMENT = "SELECT 'a secret', SLEEP(600)"
UNKNOWN = "0" * 32
ACCOUNT = "'few'@'127.0.0.1'"
GUIDE = Path(__file__).parents[4] / "docs/guides/grants.md"
RUNNING = "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO = %s"


@pytest.fixture
def statement():
    return STATEMENT


@pytest.fixture
def running(shared_server, statement):
    """Runs the statement of the fixture `statement` in another session, which still runs it when the test starts and
    is killed when the test ends.
    """
    server, owner = shared_server.connect(), shared_server.connect()

    def run():
        with suppress(RefusedStatement):  # killed in the end
            server.run(statement)

    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: owner.rows(RUNNING, [statement]), "it runs")
    yield
    for (number,) in owner.rows(RUNNING, [statement]):
        owner.run(f"KILL QUERY {number}")
    thread.join()
    server.close()
    owner.close()


def example(client, instance, digest):
    return client.get(f"/api/v1/instances/{instance.pk}/cache/queries/{digest}/example")


def test_who_may_try_statements_sees_literals_and_others_do_not(operator, viewer, instance, running):
    digest = digest_of(STATEMENT)
    found = example(operator, instance, digest).json()
    assert found == {"statement": STATEMENT, "database": None, "reason": "", "note": "", "remedy": []}
    [event] = AuditEvent.objects.filter(action="instance.statement_shown")
    assert (event.actor_id, event.target_id, event.after) == (operator.user.pk, instance.pk, {"digest": digest})
    answer = example(viewer, instance, digest)
    assert (answer.status_code, answer.json()["code"]) == (403, "denied")
    assert AuditEvent.objects.filter(action="instance.statement_shown").count() == 1


def test_a_server_without_a_history_of_statements_says_what_would_give_it_one(operator, instance):
    assert example(operator, instance, UNKNOWN).json()["reason"] == "local_history_off"
    Instance.objects.filter(pk=instance.pk).update(provider="external")
    found = example(operator, instance, UNKNOWN).json()
    assert (found["statement"], found["reason"]) == (None, "history_off")
    assert found["remedy"][0] == "performance_schema = ON"


@pytest.fixture
def of_few_rights(shared_mysql):
    """Yields an external instance whose account can only log in, and a connection of the server's owner, which can
    grant it more.
    """
    owner = shared_mysql.connect()
    owner.run(f"CREATE USER {ACCOUNT} IDENTIFIED BY 'of-few-rights'")
    found = row_for(
        shared_mysql, provider="external", username="few", password="of-few-rights", public_key=shared_mysql.public_key
    )
    yield found, owner
    owner.run(f"DROP USER {ACCOUNT}")
    owner.close()


def test_an_account_that_may_not_read_statements_is_told_what_to_grant_and_then_finds_one(operator, of_few_rights):
    instance, owner = of_few_rights
    ended = "SELECT 'of yesterday', 4711"
    owner.run(ended)
    found = example(operator, instance, digest_of(ended)).json()
    assert (found["reason"], len(found["remedy"])) == ("privilege_missing", 2)
    for statement in found["remedy"]:
        owner.run(statement)
    assert example(operator, instance, UNKNOWN).json()["reason"] == "not_remembered"
    owner.run(ended)
    assert example(operator, instance, digest_of(ended)).json()["statement"] == ended


def test_the_lines_of_the_guide_give_mariadb_a_history_of_statements(operator, own_server):
    assert "\n".join(["[mariadbd]", *OPTIONS]) in GUIDE.read_text()
    server = own_server(configured={**CONFIGURATION, **dict(line.split(" = ") for line in OPTIONS)})
    owner, ended = server.connect(), "SELECT 'of a moment ago', 4713"
    owner.run(ended)
    everything = server.everything
    instance = row_for(server, provider="external", username=everything.username, password=everything.password)
    assert example(operator, instance, digest_of(ended)).json()["statement"] == ended
    owner.close()


def test_a_local_mysql_server_shows_statements_that_have_ended(operator, shared_mysql):
    owner, ended = shared_mysql.connect(), "SELECT 'of a moment ago', 4712"
    owner.run(ended)
    assert example(operator, row_for(shared_mysql), digest_of(ended)).json()["statement"] == ended
    owner.close()


@pytest.mark.parametrize("statement", ["SELECT SLEEP(600), '" + "x" * LONGEST_BYTES + "'"])
def test_a_statement_that_is_too_long_to_compare_is_not_read(operator, instance, running):
    found = example(operator, instance, digest_of("SELECT SLEEP(600), 'x'")).json()
    assert (found["statement"], found["reason"]) == (None, "local_history_off")


def test_no_more_text_is_compared_than_takes_a_moment(monkeypatch):
    compared = []
    monkeypatch.setattr("controlplane.prerequisites.example.digest_of", lambda text: compared.append(text))
    of_100_kb = [(f"{number:06}" + "x" * 100_000, None) for number in range(100)]
    assert first([*of_100_kb, *of_100_kb], UNKNOWN) is None
    assert len(compared) == len(set(compared)) == MOST_CHARACTERS // 100_006
