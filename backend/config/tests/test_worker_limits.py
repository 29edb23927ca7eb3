import resource
import subprocess
import sys
from pathlib import Path

from config.celery import APPS
from testing.workers import BACKEND

START = """
import resource
from config.celery import APPS, app
from celery.signals import worker_init
worker_init.send(sender=app)
print(*resource.getrlimit(resource.RLIMIT_NOFILE))
"""


def with_few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def test_a_worker_may_open_as_many_connections_as_the_system_allows():
    words = [sys.executable, "-c", START]
    done = subprocess.run(words, cwd=BACKEND, preexec_fn=with_few_files, capture_output=True, text=True, check=True)
    now, most = done.stdout.split()
    assert now == most != "256"


def test_the_worker_knows_every_app_that_has_tasks():
    having = {path.parent.name for path in (Path(BACKEND) / "controlplane").glob("*/tasks.py")}
    assert having and having <= {*APPS}
