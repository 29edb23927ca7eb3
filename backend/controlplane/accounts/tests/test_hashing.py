"""Many passwords at once: memory is bounded, excess requests get a Retry-After, and other requests still work."""

import http.client
import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.core.management import call_command
from django.db import connection
from rest_framework.test import APIClient

from controlplane.accounts.models import User
from controlplane.accounts.services import user_create
from controlplane.core.request_context import acting_as
from testing.clients import PASSWORD, client_as
from testing.hasher import QuickArgon2PasswordHasher
from testing.web import process_at

SESSION = "/api/v1/auth/session"
CSRF = "a" * 32
AT_ONCE = 100
HASH_KIB = Argon2PasswordHasher.memory_cost


def ask(url, method, path, body=None, source="127.0.0.1", **headers):
    place = urlsplit(url)
    asking = http.client.HTTPConnection(place.hostname, place.port, timeout=300, source_address=(source, 0))
    try:
        headers = {"Content-Type": "application/json", **headers}
        asking.request(method, path, None if body is None else json.dumps(body), headers)
        answer = asking.getresponse()
        return answer.status, answer.headers, json.loads(answer.read())
    finally:
        asking.close()


def log_in(url, number, password=PASSWORD):
    """Logs in at a web process and returns the answer.

    Each `number` stands for another address, since log-ins per address are limited.
    """
    headers = {"Cookie": f"csrftoken={CSRF}", "X-CSRFToken": CSRF}
    body = {"username": "alice", "password": password}
    return ask(url, "POST", SESSION, body, f"127.0.1.{number + 1}", **headers)


def peak_kib(url):
    status = Path(f"/proc/{process_at(url)}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1])


@pytest.mark.django_db(transaction=True)
def test_log_ins_beyond_what_is_hashed_at_a_time_are_told_to_wait_and_nothing_else_suffers(web):
    User.objects.create(username="alice", role="viewer", password=Argon2PasswordHasher().encode(PASSWORD, "s" * 22))
    url = web(FQC_HASHES_AT_ONCE="1")
    token = client_as("operator")._credentials["HTTP_AUTHORIZATION"]
    assert log_in(url, 200)[0] == 200
    before = peak_kib(url)
    over, written = threading.Event(), []

    def write():
        while not over.is_set():
            written.append(ask(url, "POST", "/api/v1/tokens", {"name": "x", "scope": "viewer"}, Authorization=token)[0])

    with ThreadPoolExecutor(AT_ONCE + 2) as threads:
        writers = [threads.submit(write) for _ in range(2)]
        passwords = [PASSWORD if number % 2 else "wrong" for number in range(AT_ONCE)]
        answers = list(threads.map(lambda number: log_in(url, number, passwords[number]), range(AT_ONCE)))
        over.set()
        for writer in writers:
            writer.result()
    refused = [(headers, problem) for status, headers, problem in answers if status == 429]
    # On a busy machine few passwords are hashed before the others stop waiting, and all of these may be wrong ones.
    hashed = {status for status, _, _ in answers} - {429}
    assert refused and hashed and hashed <= {200, 403}
    for headers, problem in refused:
        assert (problem["code"], headers["Content-Type"]) == ("busy", "application/problem+json")
        assert int(headers["Retry-After"]) > 0
    assert set(written) == {201}
    assert peak_kib(url) - before < HASH_KIB  # the memory that one more hash at a time would take
    assert log_in(url, 201)[0] == 200


class Watched(QuickArgon2PasswordHasher):
    seen: list[bool] = []

    def encode(self, password, salt):
        self.seen.append(connection.in_atomic_block)
        return super().encode(password, salt)

    def verify(self, password, encoded):
        self.seen.append(connection.in_atomic_block)
        return super().verify(password, encoded)


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_a_password_is_hashed(settings, tmp_path):
    settings.PASSWORD_HASHERS = [f"{__name__}.Watched"]
    settings.RUN_DIR = tmp_path
    Watched.seen.clear()
    call_command("ensure_admin")
    admin = client_as("admin")
    made = admin.post("/api/v1/users", {"username": "alice", "password": PASSWORD, "role": "viewer"}).json()
    path = f"/api/v1/users/{made['id']}"
    assert admin.patch(path, {"password": PASSWORD + "2"}, HTTP_IF_MATCH='"1"').status_code == 200
    for username, password, status in (
        ("alice", "wrong", 403),
        ("nobody", "wrong", 403),
        ("alice", PASSWORD + "2", 200),
    ):
        alice = APIClient()
        assert alice.post(SESSION, {"username": username, "password": password}).status_code == status
    change = {"current_password": PASSWORD + "2", "new_password": PASSWORD + "3"}
    assert alice.post("/api/v1/auth/password", change).status_code == 200
    assert Watched.seen == [False] * 8  # made, made, set, wrong, nobody, right, proven, set


@pytest.mark.django_db
def test_a_password_that_cannot_be_hashed_now_is_not_counted_as_wrong(monkeypatch):
    from controlplane.accounts import hashing

    with acting_as("test"):
        user_create(username="alice", password=PASSWORD, role="viewer")
    monkeypatch.setattr(hashing, "WAIT_SECONDS", 0.01)
    browser = APIClient()
    with hashing.hashing_slot(), hashing.hashing_slot():
        for _ in range(6):
            answer = browser.post(SESSION, {"username": "alice", "password": PASSWORD})
            assert (answer.status_code, answer.json()["code"]) == (429, "busy")
    assert browser.post(SESSION, {"username": "alice", "password": PASSWORD}).status_code == 200
