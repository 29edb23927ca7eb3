"""Real Celery workers and schedulers on the test's database and broker, killed when the test ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.db import connection

BACKEND = Path(__file__).parents[1]


def database_url() -> str:
    facts = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite://{facts['NAME']}"
    account = facts["USER"] + (f":{facts['PASSWORD']}" if facts["PASSWORD"] else "")
    return f"postgresql://{account}@{facts['HOST']}:{facts['PORT']}/{facts['NAME']}"


def beside() -> psycopg.Connection[Any]:
    """Returns a connection to the test's PostgreSQL that Django does not manage, with autocommit on. The caller
    closes it."""
    facts = connection.settings_dict
    place = {"host": facts["HOST"], "port": facts["PORT"], "user": facts["USER"], "dbname": facts["NAME"]}
    return psycopg.connect(**place, password=facts["PASSWORD"] or None, autocommit=True)


def environment_of(**more: str) -> dict[str, str]:
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "FQC_RUN_DIR": str(settings.RUN_DIR),
        "FQC_DATABASE_URL": database_url(),
        "FQC_SEALING_KEYS": ",".join(settings.SEALING_KEYS),
        **more,
    }


def _start(python: list[str], role: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
    words = [*python, "celery", "--app", "config.celery", *role]
    return subprocess.Popen(words, cwd=BACKEND, env=environment_of(**{"FQC_LOG_LEVEL": "ERROR"} | environment))


WORKER = ["worker", "--without-gossip", "--without-mingle", "--without-heartbeat"]
# Arguments for the pool: one process that does everything.
ALONE = ["--pool", "solo"]
OF_TWO = ["--concurrency", "2"]  # as in production: one process listens, the others work
PYTHON = [sys.executable, "-m"]


@pytest.fixture
def worker(transactional_db: None) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Yields a function that starts a Celery worker and returns its process at once. All are killed in the end.

    `python` is the command before the module, for a process with a clock of its own. Keyword arguments are environment
    variables.
    """
    started: list[subprocess.Popen[bytes]] = []

    def start(python: list[str] = PYTHON, pool: list[str] = ALONE, **environment: str) -> subprocess.Popen[bytes]:
        started.append(_start(python, [*WORKER, *pool], environment))
        return started[-1]

    yield start
    _end(started)


@pytest.fixture
def beat(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Yields a function that starts a Celery scheduler and returns its process at once. All are killed in the end.

    Each has its own schedule file, as on separate machines.
    """
    started: list[subprocess.Popen[bytes]] = []

    def start(python: list[str] = PYTHON, **environment: str) -> subprocess.Popen[bytes]:
        role = ["beat", "--schedule", str(tmp_path / f"beat-{len(started)}"), "--pidfile="]
        started.append(_start(python, role, environment))
        return started[-1]

    yield start
    _end(started)


def _end(started: list[subprocess.Popen[bytes]]) -> None:
    for process in started:
        process.kill()
        process.wait()


def until(is_met: Callable[[], object], what: str, seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while not is_met():
        if time.monotonic() > deadline:
            raise AssertionError(f"did not happen in {seconds} s: {what}")
        time.sleep(0.05)
