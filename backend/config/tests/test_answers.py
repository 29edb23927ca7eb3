"""Every GET of the contract is answered, from a fleet with something of everything, as the contract says."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from controlplane.accounts.models import User
from controlplane.alerts.tests.test_evaluation import watch
from controlplane.core import clock
from controlplane.fleet.kept_connections import Connections
from controlplane.metrics import polling
from controlplane.metrics.tests.fleet import instance_make
from controlplane.parameters.services import template_create
from controlplane.statements.models import StatementNote
from testing.answers import contract, faults
from testing.changes import changed
from testing.clients import reporter_of
from testing.near import REPORT

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("answers_keep_the_contract")]
GETS = sorted(path for path, methods in contract()["paths"].items() if "get" in methods)
STREAMS = {"/api/v1/events", "/api/v1/audit-events/export"}
# Parts of a path that are not ids from the list above it.
NAMES = {"name": "long_query_time", "digest": "0" * 32}
# These need an engine with traffic, or a template that was applied.
MAY_BE_EMPTY = (
    "/cache/queries", "/cache/tables", "/cache/advice", "/prometheus/targets", "/templates/{id}/instances",
)  # fmt: skip
QUERIES: dict[str, dict[str, Any]] = {
    "/api/v1/instances/{id}/metrics": {"names": "hit_ratio"},
    "/api/v1/metrics/fleet": {"names": "hit_ratio"},
    "/api/v1/templates/{id}/diff": {"other": "tpl-57-cache-on"},
}


@pytest.fixture
def fleet(admin: APIClient, instance: Any) -> APIClient:
    """Makes at least one of everything that the API lists, on a real server. Returns an administrator's client."""
    Client().force_login(User.objects.get(role="admin"))
    changed(instance, {"long_query_time": "2"})
    template_create(name="slow-log", engine_line="5.7", values={"long_query_time": "3"})
    posted = {
        "fleet-applies": {"template": "slow-log", "every": True},
        "tokens": {"name": "t", "scope": "viewer"},
        "access-keys": {"name": "k", "scope": "viewer"},
        "channels": {"name": "on call", "kind": "mail", "recipients": ["dba@example.com"]},
        "silences": {"reason": "r", "duration_seconds": 3600},
    }
    for path, body in posted.items():
        answer = admin.post(f"/api/v1/{path}", body)
        assert answer.status_code < 300, (path, answer.json())
    assert reporter_of(instance.pk).post("/api/v1/near-caches/reports", REPORT).status_code == 200
    connections = Connections()
    polling.poll_round(1_800_000_000, connections)
    connections.keep_only(())
    assert watch(instance, 11, hits=10, lookups=100) == 1
    hour = clock.shared_time() // 3600 * 3600
    for at, counts in ((hour - 3600, {}), (hour, {NAMES["digest"]: {"executions": 1}})):
        StatementNote.objects.create(instance=instance, at=at, counts=counts)
    return admin


def test_every_get_is_answered_as_the_contract_says(fleet: APIClient, instance: Any) -> None:
    asked = {}
    for path in GETS:
        if path in STREAMS:
            continue
        query = {"instances": instance.pk} if path.endswith("/sparklines") else QUERIES.get(path, {})
        answer = fleet.get(address(fleet, path, instance), query)
        asked[path] = answer.status_code
        if "items" in answer.json():
            assert answer.json()["items"] or path.endswith(MAY_BE_EMPTY), f"nothing to see in {path}"
    assert {path: status for path, status in asked.items() if status != 200} == {}
    assert len(asked) > 50


def address(client: APIClient, path: str, instance: Any) -> str:
    if "{" not in path:
        return path
    head, _, rest = path.partition("/{id}")
    key = instance.pk if head.endswith("/instances") else client.get(head).json()["items"][0]["id"]
    return f"{head}/{key}{rest}".format(**NAMES)


def test_nobody_is_told_so_as_the_contract_says(outsider: APIClient) -> None:
    session = outsider.get("/api/v1/auth/session").json()
    assert (session["is_authenticated"], session["role"], session["user"]) == (False, None, None)


@pytest.mark.parametrize("start", ["02:00:00", "2:00", "24:00", "02:00Z", None])
def test_a_time_that_is_told_otherwise_is_noticed(viewer: APIClient, start: str | None) -> None:
    instance = instance_make()
    shown = viewer.get(f"/api/v1/instances/{instance.pk}").json()
    where = ("GET", f"/api/v1/instances/{instance.pk}", 200)
    assert faults(*where, shown) == []
    assert faults(*where, {**shown, "maintenance_window": {**shown["maintenance_window"], "start": start}})
    assert faults(*where, {name: value for name, value in shown.items() if name != "endpoint"})
