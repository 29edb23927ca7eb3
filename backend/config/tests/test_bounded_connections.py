"""However many ask and listen, a web process opens few connections to PostgreSQL and works on few requests."""

import http.client
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db import connection

from controlplane.core.events import event_publish
from controlplane.metrics.tests.fleet import instance_make
from testing.clients import client_as
from testing.web import Browser, process_at
from testing.workers import beside

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no connections to run out of"),
]
CLIENTS, REQUESTS, STREAMS, CONNECTIONS = 30, 5, 60, 3
READ = "/api/v1/instances"


def ask(url, headers, path=READ):
    """Sends a GET request to a web process and returns status, headers and the body as parsed JSON."""
    asking = http.client.HTTPConnection(urlsplit(url).netloc, timeout=180)
    try:
        asking.request("GET", path, headers=headers)
        answer = asking.getresponse()
        return answer.status, answer.headers, json.loads(answer.read())
    finally:
        asking.close()


def opened(url, headers):
    """Opens an event stream and reads its first block, which has the id that the stream begins with.

    Returns the connection, which the caller must close, and the answer to read on from.
    """
    asking = http.client.HTTPConnection(urlsplit(url).netloc, timeout=180)
    asking.request("GET", "/api/v1/events", headers=headers)
    answer = asking.getresponse()
    assert answer.status == 200
    while answer.readline().strip():
        pass
    return asking, answer


def others_connected(looking):
    # Only connections of clients count: PostgreSQL has background processes of its own.
    others = "backend_type = 'client backend' AND datname = current_database() AND pid <> pg_backend_pid()"
    return looking.execute(f"SELECT count(*) FROM pg_stat_activity WHERE {others}").fetchone()[0]


@pytest.fixture
def silent():
    """Yields a listener that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        yield listener


@pytest.fixture
def headers():
    return {"Authorization": client_as("viewer")._credentials["HTTP_AUTHORIZATION"]}


@pytest.fixture
def looking():
    # One connection for all queries: PostgreSQL counts a closed connection for a moment longer.
    with beside() as connected:
        yield connected


def event_told(answer):
    """Returns the next line of an event stream that begins with `data`, as bytes. Blocks until there is one."""
    return next(line for line in iter(answer.readline, b"") if line.startswith(b"data"))


def test_clients_and_streams_share_the_connections_and_none_is_refused(web, headers, looking):
    before = others_connected(looking)
    url = web(FQC_DATABASE_CONNECTIONS=str(CONNECTIONS))
    streams = [opened(url, headers) for _ in range(STREAMS)]
    threads = sum(1 for _ in Path(f"/proc/{process_at(url)}/task").iterdir())
    most, over = [0], threading.Event()

    def watch():
        while not over.is_set():
            most[0] = max(most[0], others_connected(looking))
            time.sleep(0.02)

    watching = threading.Thread(target=watch)
    watching.start()
    with ThreadPoolExecutor(CLIENTS) as clients:
        answers = list(clients.map(lambda _: ask(url, headers)[0], range(CLIENTS * REQUESTS)))
    over.set()
    watching.join()
    event_publish("change", "chg-1", {"state": "applied"})
    for asking, answer in streams:
        assert b"chg-1" in event_told(answer)
        asking.close()
    assert set(answers) == {200}
    assert most[0] - before <= CONNECTIONS + 1  # plus one for all event streams
    assert threads < STREAMS


def test_a_request_that_waits_for_a_managed_server_keeps_no_connection_and_no_place_from_others(web, headers, silent):
    bounds = {"FQC_REQUESTS_AT_ONCE": "1", "FQC_DATABASE_CONNECTIONS": "1", "FQC_DATABASE_WAIT_SECONDS": "1"}
    url = web(**bounds, FQC_CONNECT_TIMEOUT_SECONDS="120")
    instance = instance_make(port=silent.getsockname()[1])
    operator = {"Authorization": client_as("operator")._credentials["HTTP_AUTHORIZATION"]}
    with ThreadPoolExecutor(1) as thread:
        path = f"/api/v1/instances/{instance.pk}/cache/trial"
        waiting = thread.submit(Browser(url).ask, path, {"statement": "SELECT 1"}, **operator)
        held, _ = silent.accept()
        assert ask(url, headers)[0] == 200
        held.close()
        assert waiting.result()[0] == 503


@contextmanager
def at_work(url, headers):
    """Keeps a request at work for the block: it waits for a lock on the table of instances, and must succeed
    afterwards.

    Needs PostgreSQL.
    """
    with beside() as holding, ThreadPoolExecutor(1) as clients:
        holding.execute("BEGIN")
        holding.execute("LOCK TABLE fleet_instance IN ACCESS EXCLUSIVE MODE")
        first = clients.submit(ask, url, headers)
        with beside() as looking:
            waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            while not looking.execute(waits).fetchone()[0]:
                time.sleep(0.02)
        yield
        holding.execute("ROLLBACK")
        assert first.result()[0] == 200


def test_whoever_gets_no_connection_in_time_is_told_when_to_come_again(web, headers):
    url = web(FQC_DATABASE_CONNECTIONS="1", FQC_DATABASE_WAIT_SECONDS="1")
    assert ask(url, headers)[0] == 200
    with at_work(url, headers):
        status, told, problem = ask(url, headers)
    assert (status, problem["code"], told["Content-Type"]) == (503, "unavailable", "application/problem+json")
    assert int(told["Retry-After"]) > 0
    assert ask(url, headers)[0] == 200


def test_whoever_gets_no_place_in_time_is_told_when_to_come_again_and_health_is_still_answered(web, headers):
    url = web(FQC_REQUESTS_AT_ONCE="1")
    with at_work(url, headers):
        status, told, problem = ask(url, headers)
        assert [ask(url, {}, path)[0] for path in ("/healthz", "/readyz")] == [200, 200]
    assert (status, problem["code"], told["Content-Type"]) == (429, "busy", "application/problem+json")
    assert int(told["Retry-After"]) > 0
    assert told["X-Request-ID"] == problem["request_id"]
    assert ask(url, headers)[0] == 200


def test_a_place_of_a_client_that_left_is_free_again(web, headers):
    url = web(FQC_REQUESTS_AT_ONCE="1")
    with at_work(url, headers):
        leaving = http.client.HTTPConnection(urlsplit(url).netloc, timeout=180)
        leaving.request("GET", READ, headers=headers)
        leaving.close()
    assert ask(url, headers)[0] == 200
