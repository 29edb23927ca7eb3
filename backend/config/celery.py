"""Celery delivers work; the rows in the database are authoritative.

No results are kept, and tasks may run more than once.
"""

from __future__ import annotations

import os
import resource
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from celery import Celery
from celery.signals import (
    beat_init,
    setup_logging,
    task_prerun,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
)
from celery.utils.log import get_multiprocessing_logger

from config.private import keep_private

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Django's checks load every view, which takes half of the start of a worker or scheduler. The tests run the checks.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

# A database connection serves this many tasks: opening one costs as much as a small task.
TASKS_PER_CONNECTION = 1000
BROKER_SECONDS = 5.0
# The scheduler reads the clock before each sleep. If it is set back just after that, the scheduler sleeps for this long
# at most.
LONGEST_SLEEP_SECONDS = 5.0
REDIS = "config.redis_broker:Transport"
TRANSPORTS = {"filesystem": "config.file_broker:Transport", "redis": REDIS, "rediss": REDIS}
APPS = [
    "changes", "rollouts", "fleet", "prerequisites", "metrics", "statements", "alerts", "accounts", "audit", "core",
    "rpc",
]  # fmt: skip


def transport_options(url: str, run_dir: Path) -> dict[str, object]:
    """Returns the options of the transport for a broker's URL.

    The embedded broker is a folder of files, made here and polled every 20 ms, since nothing wakes a waiting worker.
    Redis gets short timeouts, since it may hang; a sweep finds the work that could not be sent.
    """
    if TRANSPORTS.get(url.partition(":")[0]) == REDIS:
        return {"socket_connect_timeout": BROKER_SECONDS, "socket_timeout": BROKER_SECONDS, "socket_keepalive": True}
    if not url.startswith("filesystem://"):
        return {}
    queue, control = run_dir / "broker" / "queue", run_dir / "broker" / "control"
    for folder in (queue, control):
        folder.mkdir(parents=True, exist_ok=True)
    return {
        "data_folder_in": str(queue),
        "data_folder_out": str(queue),
        "control_folder": str(control),
        "polling_interval": 0.02,
    }


def beat_schedule() -> dict[str, object]:
    """Returns the periodic tasks of all apps, by name, from each app's `schedule.SCHEDULE`."""
    entries: dict[str, object] = {}
    for name in APPS:
        if find_spec(f"controlplane.{name}.schedule"):
            entries |= import_module(f"controlplane.{name}.schedule").SCHEDULE
    return entries


def build() -> Celery:
    from django.conf import settings

    celery = Celery("fqc", broker=settings.BROKER_URL)
    celery.conf.update(
        broker_transport=TRANSPORTS.get(settings.BROKER_URL.partition(":")[0]),
        broker_transport_options=transport_options(settings.BROKER_URL, settings.RUN_DIR),
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,  # retry for ever, since the broker may be down for a night
        task_ignore_result=True,
        task_serializer="json",
        task_acks_late=True,
        task_publish_retry=False,
        worker_cancel_long_running_tasks_on_connection_loss=False,  # a change can end without the broker
        worker_prefetch_multiplier=1,
        CELERY_DB_REUSE_MAX=TASKS_PER_CONNECTION,
        timezone="UTC",
        beat_schedule=beat_schedule(),
        beat_scheduler="config.beat:Scheduler",
        beat_max_loop_interval=LONGEST_SLEEP_SECONDS,
        beat_schedule_filename=str(settings.RUN_DIR / "beat-schedule"),
    )
    celery.autodiscover_tasks([f"controlplane.{name}" for name in APPS])
    return celery


@setup_logging.connect
def leave_logs(**_: object) -> None:
    """Leaves logging to `config.logs`, which uses FQC_LOG_LEVEL: Celery's `--loglevel` has no effect."""
    get_multiprocessing_logger()  # without this the pool does not log that a process was killed
    app.log.redirect_stdouts("WARNING")


@worker_init.connect
@beat_init.connect
def write_privately(**_: object) -> None:
    keep_private()


@worker_init.connect
def allow_files(**_: object) -> None:
    """Raises a worker's limit of open files to the maximum, since a connection to every server is kept open."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@worker_init.connect
def keep_connections(**_: object) -> None:
    """Keeps database connections open, in workers only: a web process handles every request in a thread of its own."""
    from django.db import connections

    connections.settings["default"]["CONN_MAX_AGE"] = None


@worker_process_init.connect
def begin_telemetry(**_: object) -> None:
    from config import telemetry

    telemetry.begin("worker")


@worker_process_shutdown.connect
def end_telemetry(**_: object) -> None:
    from config import telemetry

    telemetry.end()


@task_prerun.connect
def check_connections(**_: object) -> None:
    """Lets each task test its database connection before its first statement, since the database may have been
    restarted since the last task.
    """
    from django.db import close_old_connections

    close_old_connections()


app = build()
