"""A worker, a scheduler and a command start without the modules that only answers to requests need."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from testing.workers import BACKEND, environment_of

SETUP = "import django; django.setup()"
WORKER = "from config.celery import app; app.loader.import_default_modules()"
TELL = "import sys; print(*sys.modules)"
NEEDLESS = re.compile(r"controlplane\..*views|rest_framework\.serializers|rich\.|django_filters")


@pytest.mark.django_db
@pytest.mark.parametrize("start", [SETUP, f"{SETUP}; {WORKER}"], ids=["command", "worker"])
def test_no_view_and_no_rest_framework_is_loaded_for_what_answers_no_requests(start: str) -> None:
    words = [sys.executable, "-c", f"{start}\n{TELL}"]
    done = subprocess.run(words, cwd=BACKEND, env=environment_of(), capture_output=True, text=True, check=True)
    assert [name for name in done.stdout.split() if NEEDLESS.match(name)] == []
