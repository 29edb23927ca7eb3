"""A thousand incidents: opened by one evaluation, evaluated while they are open, listed, and mailed.

The rules judge the newest samples of earlier polls. The mail server is a real one, in this process.
"""

from __future__ import annotations

import time
from typing import Any

from django.db import connection
from django.db.models import Max

from bench.client import client_as
from bench.spread import seconds_of, spread, timed
from controlplane.alerts import evaluation, services
from controlplane.alerts.mailing import mails_send
from controlplane.alerts.models import Incident
from controlplane.core.request_context import acting_as
from controlplane.fleet.models import Instance
from controlplane.gateway.tests.smtp import smtp_server
from controlplane.metrics.models import Sample
from controlplane.metrics.partitions import partitions_ensure
from controlplane.metrics.writing import SAMPLE_TYPES
from controlplane.settings.selectors import settings_get

MOST, RULES, LOOKS, REPEATS = 1000, 20, 10, 30
RULE = {"metric": "hit_ratio", "comparison": "ge", "threshold": 0.0, "for_seconds": 0, "minimum_traffic": 0.0}


def measure(instances: int) -> dict[str, Any]:
    count = min(instances, MOST)
    pks = list(Instance.objects.order_by("name").values_list("pk", flat=True)[:count])
    Instance.objects.filter(pk__in=pks).update(tags={"stage": "bench"})
    with smtp_server() as (port, mailbox):
        _mail_through(port)
        with acting_as("bench"):
            services.rule_create(name="all of them", overrides=[], scope="tags", tags={"stage": "bench"}, **RULE)
        opening = seconds_of(lambda: evaluation.evaluate(_sampled()))
        assert Incident.objects.filter(resolved_at=None).count() == count  # noqa: S101 - else nothing is measured
        sending = seconds_of(mails_send)
        mails = len(mailbox.messages)
    open_looks = _looks()
    lists = _lists()
    _more_rules()
    return {
        "incidents": count,
        "opening_seconds": round(opening, 2),
        "mails": mails,
        "telling_by_mail_seconds": round(sending, 2),
        "a look at all instances, these open": open_looks,
        **lists,
        f"a look with {RULES} more rules on all instances": _looks(),
    }


def _mail_through(port: int) -> None:
    row = settings_get()
    row.smtp_host, row.smtp_port, row.mail_to = "127.0.0.1", port, ["bench@example.com"]
    row.save()


def _more_rules() -> None:
    with acting_as("bench"):
        for number in range(RULES):
            fields = {**RULE, "comparison": "lt"}  # a condition that is never true
            services.rule_create(name=f"rule {number}", overrides=[], **fields)


def _looks() -> dict[str, float]:
    """Returns wall time and, separately, this process's CPU time, which does not include PostgreSQL's."""
    wall, cpu = [], []
    for _ in range(LOOKS):
        now, started = _sampled(), time.process_time()
        wall.append(seconds_of(lambda now=now: evaluation.evaluate(now)))  # type: ignore[misc]
        cpu.append(time.process_time() - started)
    return {**spread(wall, "seconds"), "median_cpu_seconds": spread(cpu, "s")["median_s"]}


def _sampled() -> int:
    """Stores copies of the newest samples, 15 seconds later than these. Returns the time of the copies, in seconds."""
    newest = Sample.objects.aggregate(Max("at"))["at__max"]
    names = [name for name in SAMPLE_TYPES if name != "at"]
    partitions_ensure(Sample, newest, newest + 15)
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {Sample._meta.db_table} (at, {', '.join(names)})"  # noqa: S608 - names are the model's
            f" SELECT at + 15, {', '.join(names)} FROM {Sample._meta.db_table} WHERE at = %s",
            [newest],
        )
    return int(newest) + 15


def _lists() -> dict[str, Any]:
    client = client_as("viewer")

    def page() -> None:
        assert client.get("/api/v1/incidents", {"is_open": "true", "limit": 200}).status_code == 200  # noqa: S101

    return {"open incidents, a page of 200": timed(page, REPEATS)}
