"""The database goes away and comes back while a worker is in the middle of a change."""

import pytest
from django.db import connection

from controlplane.changes.upkeep import sweep
from testing import settings as run_of_tests
from testing.changes import asked
from testing.faults import ended, running
from testing.workers import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("shipped_classes")]


@pytest.fixture
def database():
    if run_of_tests.POSTGRES is None:
        pytest.skip("takes a PostgreSQL of this run alone")
    yield run_of_tests.POSTGRES
    connection.close()


def test_a_change_that_lost_its_database_is_undone_and_the_worker_works_on(held, shared_server, worker, database):
    instance, proxy = held
    before = running(shared_server, "sort_buffer_size")
    change = asked(instance, {"sort_buffer_size": "4194304"})
    worker(FQC_CHANGE_LEASE_SECONDS="1")
    until(proxy.is_held.is_set, "the worker reaches the step")
    database.stop()
    proxy.release()
    database.start()
    connection.close()
    until(lambda: sweep() or ended(change), "somebody ends the change")
    # The worker may have got its answer only when the database was back.
    if change.state != "applied":
        assert (change.state, change.outcome_code) == ("rolled_back", "worker_lost"), change.outcome_detail
        assert running(shared_server, "sort_buffer_size") == before
    following = asked(instance, {"long_query_time": "4"})
    # No sweep here: on a loaded machine it could take a lease of one second for that of a dead worker.
    until(lambda: ended(following), "the same worker takes the next one")
    assert following.state == "applied"
    served_by = backends()
    third = asked(instance, {"long_query_time": "5"})
    until(lambda: ended(third), "and one more")
    assert served_by & backends(), "a worker opens a connection for every task"


def backends() -> set[int]:
    """Returns the process ids of all other connections to this database, on PostgreSQL."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
        return {pid for (pid,) in cursor.fetchall()}
