"""Once a change has ended, the API shows its effect without waiting for a watch."""

from datetime import timedelta

import pytest

from controlplane.changes import services
from controlplane.changes.services import change_restart
from controlplane.fleet.local import local_server
from controlplane.fleet.models import Instance
from testing.changes import asked, changed, run
from testing.servers import row_for

pytestmark = pytest.mark.django_db
NOW = {"note": "", "apply": True, "when": "now", "at": None}


@pytest.fixture
def instance(own_server):
    return row_for(own_server(has_engine=True))


def shown(client, instance):
    return client.get(f"/api/v1/instances/{instance.pk}").json()


def test_a_restart_shows_the_new_start_however_soon_it_comes(viewer, instance):
    # The server reports whole seconds, so this value can only be the start that was stored before.
    noted = instance.server_started_at - timedelta(seconds=0.5)
    Instance.objects.filter(pk=instance.pk).update(server_started_at=noted)
    before = shown(viewer, instance)
    change = run(change_restart(Instance.objects.get(pk=instance.pk), **NOW))
    assert change.state == "applied", change.outcome_detail
    after = shown(viewer, instance)
    assert (after["state"], after["version"]) == ("running", before["version"] + 1)
    assert after["server_started_at"] != before["server_started_at"]


def test_a_restart_makes_what_waited_for_it_run_and_shows_it(viewer, instance):
    changed(instance, {"back_log": "321"})
    assert shown(viewer, instance)["pending_restart_count"] == 1
    assert run(change_restart(instance, **NOW)).state == "applied"
    assert shown(viewer, instance)["pending_restart_count"] == 0
    row = instance.parameters.get(name="back_log")
    assert (row.running, row.is_pending_restart, row.is_drifted) == ("321", False, False)


def test_drift_that_a_change_meets_is_shown_with_it(viewer, instance):
    changed(instance, {"long_query_time": "2"})
    with local_server(instance).as_owner() as server, server.cursor() as cursor:
        cursor.execute("SET GLOBAL long_query_time = 7")
    changed(instance, {"sort_buffer_size": "4194304"})
    assert shown(viewer, instance)["drifted_count"] == 1


def test_a_change_of_an_instance_whose_server_is_gone_shows_that(viewer, instance):
    change = asked(instance, {"long_query_time": "4"})
    local_server(instance).stop()
    run(change)
    after = shown(viewer, instance)
    assert (change.state, after["state"]) == ("rolled_back", "unreachable")
    assert "refused" in after["state_reason"].lower()


def test_the_proxy_needs_no_server_and_shows_at_once(viewer, instance):
    assert run(services.change_proxy(instance, enabled=True, **NOW)).state == "applied"
    assert shown(viewer, instance)["proxy_enabled"] is True
