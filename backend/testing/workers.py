"""Real Celery workers on the test's database and broker, killed when the test ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

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


def _start(**environment: str) -> subprocess.Popen[bytes]:
    variables = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "FQC_RUN_DIR": str(settings.RUN_DIR),
        "FQC_DATABASE_URL": database_url(),
        **environment,
    }
    words = [sys.executable, "-m", "celery", "--app", "config.celery", "worker", "--pool", "solo"]
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "ERROR"]
    return subprocess.Popen([*words, *quiet], cwd=BACKEND, env=variables)


@pytest.fixture
def worker(transactional_db: None) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(**environment: str) -> subprocess.Popen[bytes]:
        started.append(_start(**environment))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def until(is_met: Callable[[], object], what: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not is_met():
        if time.monotonic() > deadline:
            raise AssertionError(f"did not happen in {seconds} s: {what}")
        time.sleep(0.05)
