"""State that several web processes must share, with two real ones."""

import itertools
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from controlplane.metrics.tests.fleet import instance_make
from testing.web import Browser

pytestmark = pytest.mark.django_db(transaction=True)
LOGINS_PER_MINUTE, PROCESSES = 20, 2


def test_log_ins_are_limited_per_address_not_per_process(web):
    browsers = [Browser(web()) for _ in range(PROCESSES)]
    answers = []
    for browser in itertools.islice(itertools.cycle(browsers), 3 * LOGINS_PER_MINUTE):
        answers.append(browser.ask("/api/v1/auth/session", {})[0])  # counted before the password is checked
        if answers[-1] == 429:
            break
    # If the minute ends during the test, some more requests are let in.
    assert (answers[:LOGINS_PER_MINUTE], answers[-1]) == ([403] * LOGINS_PER_MINUTE, 429)


def test_a_name_that_failed_at_one_process_is_locked_at_the_other(web):
    first, second = Browser(web()), Browser(web())
    for browser in (first, second, first, second, first):
        assert browser.log_in("somebody", "wrong") == 403
    status, problem, _ = second.ask("/api/v1/auth/session", {"username": "somebody", "password": "x"})
    assert (status, problem["code"]) == (403, "csrf_failed")
    token = second.ask("/api/v1/auth/session")[1]["csrf_token"]
    body = {"username": "somebody", "password": "wrong"}
    assert second.ask("/api/v1/auth/session", body, **{"X-CSRFToken": token})[1]["code"] == "locked_out"


@pytest.fixture
def silent():
    """Yields a listener that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        yield listener


def test_a_request_that_comes_twice_at_once_acts_once_and_the_second_is_told(web, operator, silent):
    first, second = (Browser(web(FQC_CONNECT_TIMEOUT_SECONDS="120")) for _ in range(2))
    instance = instance_make(port=silent.getsockname()[1])
    path, statement = f"/api/v1/instances/{instance.pk}/cache/trial", {"statement": "SELECT 1"}
    headers = {"Authorization": operator._credentials["HTTP_AUTHORIZATION"], "Idempotency-Key": "key-1"}
    with ThreadPoolExecutor(1) as thread:
        waiting = thread.submit(first.ask, path, statement, **headers)
        connection, _ = silent.accept()  # the first request is at work
        status, problem, _ = second.ask(path, statement, **headers)
        assert (status, problem["code"]) == (409, "in_progress")
        status, problem, _ = second.ask(path, {"statement": "SELECT 2"}, **headers)
        assert (status, problem["code"]) == (422, "key_reused")
        connection.close()
        status, problem, _ = waiting.result(120)
        assert (status, problem["code"]) == (503, "server_unreachable")
