import pytest

from controlplane.audit.models import AuditEvent
from controlplane.changes import services
from controlplane.changes.models import ChangeSet
from controlplane.core.errors import Conflict, Denied, Refused
from controlplane.core.request_context import acting_as
from controlplane.fleet.models import Instance
from controlplane.settings.selectors import settings_get
from testing.changes import asked, changed, run, steps

pytestmark = pytest.mark.django_db


@pytest.fixture
def server(shared_server):
    connection = shared_server.connect()
    yield connection
    connection.close()


def test_a_dynamic_parameter_is_set_read_back_and_kept_as_it_was_submitted(instance, server):
    change = changed(instance, {"sort_buffer_size": "{DBInstanceClassMemory/1024}"})
    assert server.variable("sort_buffer_size") == "1048576"
    row = instance.parameters.get(name="sort_buffer_size")
    assert (row.submitted, row.resolved, row.is_drifted) == ("{DBInstanceClassMemory/1024}", "1048576", False)
    assert steps(change) == [("set_global", "sort_buffer_size", "done"), ("write_configuration", "", "done")]


def test_applying_moves_the_version_and_writes_the_trail(instance):
    before = instance.version
    change = changed(instance, {"long_query_time": "3"})
    assert instance.version == before + 1
    trail = AuditEvent.objects.filter(target_id=change.pk).order_by("created_at", "id")
    assert {event.action for event in trail} == {"change.previewed", "change.approved", "change.applied"}
    assert {event.actor for event in trail} == {"tester"}


def test_changes_are_narrowed_to_an_instance_by_id_or_name_also_when_it_is_gone(operator, instance):
    change = changed(instance, {"long_query_time": "4"})

    def found(which):
        return [each["id"] for each in operator.get("/api/v1/changes", {"instance": which}).json()["items"]]

    assert found(instance.pk) == found(instance.name) == [change.pk]
    assert found("nobody") == []
    name = instance.name
    ChangeSet.objects.update(instance=None)
    instance.name = "another"
    instance.save()
    assert found(name) == [change.pk]


def test_null_resets_to_the_default(instance, server):
    changed(instance, {"long_query_time": "3"})
    changed(instance, {"long_query_time": None})
    assert float(server.variable("long_query_time")) == 10
    assert not instance.parameters.filter(name="long_query_time").exists()


def test_memory_shrinks_before_it_grows_and_the_cache_goes_on_last(instance):
    changed(instance, {"query_cache_size": "1048576", "query_cache_type": "0"})
    change = asked(
        instance,
        {"query_cache_size": "33554432", "query_cache_type": "1", "innodb_buffer_pool_size": "200M"},
    )
    names = [step.name for step in change.steps.all()][:3]
    assert names == ["innodb_buffer_pool_size", "query_cache_size", "query_cache_type"]


def test_a_value_the_server_rounds_is_applied_and_does_not_drift(instance):
    changed(instance, {"innodb_buffer_pool_size": "{DBInstanceClassMemory*19/100}"})
    row = instance.parameters.get(name="innodb_buffer_pool_size")
    assert row.resolved == "204010946" and not row.is_drifted


def test_a_blocked_preview_makes_no_change_set(instance):
    with pytest.raises(Refused) as caught:
        asked(instance, {"query_cache_size": "1025"})
    assert caught.value.errors[0].field == "query_cache_size"
    assert not instance.changes.exists()


def test_a_parameter_nobody_knows_is_refused_before_any_statement(instance):
    with pytest.raises(Refused) as caught:
        asked(instance, {"no_such_parameter": "1"})
    assert caught.value.code == "unknown_parameter"


def test_a_failing_step_takes_the_earlier_ones_back(instance, server):
    change = asked(instance, {"long_query_time": "4", "table_open_cache": "300"})
    before = server.variable("long_query_time")
    change.steps.filter(name="table_open_cache").update(new="not-a-number")
    run(change)
    assert (change.state, change.outcome_code) == ("rolled_back", "server_refused")
    assert server.variable("long_query_time") == before
    assert not instance.parameters.exists()
    instance.refresh_from_db()
    assert instance.state == "running"


def test_a_plan_is_refused_when_the_instance_has_moved(instance):
    change = asked(instance, {"long_query_time": "5"}, apply=False)
    changed(instance, {"table_open_cache": "500"})
    with pytest.raises(Conflict) as caught:
        services.change_approve(change)
    assert caught.value.code == "instance_moved"


def test_a_value_that_somebody_set_meanwhile_stops_the_change(instance, server):
    change = asked(instance, {"long_query_time": "5"})
    server.set_global("long_query_time", "7")
    run(change)
    assert (change.state, change.outcome_code) == ("rolled_back", "instance_moved")
    assert float(server.variable("long_query_time")) == 7


def test_running_twice_applies_once(instance):
    change = asked(instance, {"long_query_time": "6"})
    run(change)
    finished, version = change.finished_at, Instance.objects.get(pk=instance.pk).version
    run(change)
    assert (change.finished_at, Instance.objects.get(pk=instance.pk).version) == (finished, version)


def test_rolling_back_restores_what_was_configured(instance, server):
    changed(instance, {"long_query_time": "2"})
    change = changed(instance, {"long_query_time": "8"})
    with acting_as("tester"):
        back = run(services.change_revert(change))
    assert (back.kind, back.state, back.reverts_id) == ("revert", "applied", change.pk)
    assert float(server.variable("long_query_time")) == 2
    assert instance.parameters.get(name="long_query_time").submitted == "2"


def test_rolling_back_a_first_setting_forgets_it(instance, server):
    change = changed(instance, {"long_query_time": "8"})
    with acting_as("tester"):
        run(services.change_revert(change))
    assert not instance.parameters.filter(name="long_query_time").exists()
    assert float(server.variable("long_query_time")) == 10


def test_an_aborted_change_never_runs(instance, server):
    change = asked(instance, {"long_query_time": "9"})
    services.change_abort(change)
    run(change)
    assert change.state == "aborted"
    assert float(server.variable("long_query_time")) == 10


def test_an_abort_while_it_is_at_work_undoes_it(instance, server):
    change = asked(instance, {"long_query_time": "9", "table_open_cache": "300"})
    type(change).objects.filter(pk=change.pk).update(is_abort_requested=True)
    run(change)
    assert (change.state, change.outcome_code) == ("rolled_back", "aborted")
    assert float(server.variable("long_query_time")) == 10


def test_a_restart_takes_a_second_person_where_that_is_set(instance):
    row = settings_get()
    row.is_four_eyes = True
    row.save()
    change = asked(instance, {"innodb_log_buffer_size": "33554432"}, allow_restart=True)
    assert change.state == "previewed" and change.needs_second_person
    with acting_as("tester", "usr-tester"), pytest.raises(Denied) as caught:
        services.change_approve(change)
    assert caught.value.code == "second_person_needed"
    with acting_as("second", "usr-second"):
        assert services.change_approve(change).state == "approved"


def test_a_static_parameter_waits_for_a_restart_without_consent(instance):
    changed(instance, {"innodb_log_buffer_size": "33554432"})
    assert instance.parameters.get(name="innodb_log_buffer_size").is_pending_restart
    changed(instance, {"innodb_log_buffer_size": None})


def test_every_change_set_ends_with_a_time_and_an_outcome_that_the_history_tells(operator, instance):
    changed(instance, {"long_query_time": "2"})
    changed(instance, {"long_query_time": "3"})
    items = operator.get(f"/api/v1/instances/{instance.pk}/parameters/history?name=long_query_time").json()["items"]
    assert [(item["old_submitted"], item["new_submitted"]) for item in items] == [("2", "3"), (None, "2")]
    assert {item["actor"] for item in items} == {"tester"}


def test_a_request_that_was_planned_on_another_state_is_refused(operator, instance):
    path, body = f"/api/v1/instances/{instance.pk}/changes", {"parameters": {"long_query_time": "2"}}
    assert operator.post(path, body, HTTP_IF_MATCH=f'"{instance.version + 1}"').status_code == 412
    assert operator.post(path, body, HTTP_IF_MATCH=f'"{instance.version}"').status_code == 201


def test_a_cache_that_others_have_sized_needs_a_decision_before_a_resize(operator, instance, server):
    path = f"/api/v1/instances/{instance.pk}/resize"
    wanted = {"instance_class": "local.small", "apply": False}
    server.run("SET GLOBAL query_cache_size = 16777216")
    assert operator.post(path, wanted).status_code == 202
    server.run("SET GLOBAL query_cache_type = ON")
    undecided = operator.post(path, wanted)
    assert (undecided.status_code, undecided.json()["code"]) == (422, "cache_size_undecided")
    assert operator.post(path, {**wanted, "parameters": {"query_cache_size": "16777216"}}).status_code == 202


@pytest.mark.parametrize(("size", "waits"), [("16777216", False), ("33554432", True)])
def test_only_a_value_that_does_not_run_yet_is_said_to_need_a_restart(operator, instance, server, size, waits):
    assert server.variable("innodb_log_buffer_size") == "16777216"
    asked_for = {"instance": instance.pk, "parameters": {"innodb_log_buffer_size": size}}
    preview = operator.post("/api/v1/changes/preview", asked_for).json()
    assert [line["needs_restart"] for line in preview["lines"]] == [waits]
    assert ("restart_needed" in {finding["code"] for finding in preview["findings"]}) is waits
