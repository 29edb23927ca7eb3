import json

import pytest
from django.core.management import call_command

from controlplane.fleet.models import Instance

pytestmark = pytest.mark.django_db


def fleet(capsys, *words):
    call_command("local_fleet", *words, "--json")
    return json.loads(capsys.readouterr().out)


def test_a_fleet_starts_stops_starts_again_and_is_gone(capsys):
    try:
        first = fleet(capsys, "start", "--count", "2")
        assert [row["name"] for row in first] == ["demo-1", "demo-2"]
        assert all(row["state"] == "running" and row["has_engine"] for row in first)
        again = fleet(capsys, "start", "--count", "2")
        assert [row["pid"] for row in again] == [row["pid"] for row in first]
        stopped = fleet(capsys, "stop")
        assert [(row["state"], row["pid"]) for row in stopped] == [("stopped", None)] * 2
        restarted = fleet(capsys, "start", "--count", "1")
        assert all(row["state"] == "running" and row["pid"] for row in restarted)
        assert [row["id"] for row in restarted] == [row["id"] for row in first]
    finally:
        assert fleet(capsys, "reset") == []
    assert not Instance.objects.exists()
