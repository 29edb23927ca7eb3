from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.catalogue.server_variables import line_id
from controlplane.changes import execution as changes_execution
from controlplane.core.errors import Conflict
from controlplane.core.events import event_payloads
from controlplane.core.models import Event
from controlplane.core.request_context import acting_as
from controlplane.fleet.models import Instance, TemplateUse
from controlplane.fleet.selectors import class_get
from controlplane.metrics.models import Latest
from controlplane.parameters.models import Template, TemplateVersion
from controlplane.parameters.services import template_create
from controlplane.rollouts import execution, services
from controlplane.rollouts.models import FleetApply
from testing.servers import row_for
from testing.statements import listed, sent

pytestmark = pytest.mark.django_db


@pytest.fixture
def template():
    return template_create(
        name="slow-log", engine_line="5.7", values={"long_query_time": "2", "sort_buffer_size": "1M"}
    )


@pytest.fixture
def fleet(instance):
    """Returns an instance whose server answers; three others are stored whose servers do not exist, with a tag."""
    for number in range(3):
        row = Instance(name=f"gone-{number}", provider="external", host="127.0.0.1", port=1, username="x")
        row.instance_class, row.state, row.password = class_get("local.small"), "running", "x"
        row.tags = {"tier": "gone"}
        row.save()
    return instance


@pytest.fixture(autouse=True)
def delivered(monkeypatch, django_capture_on_commit_callbacks):
    """Returns the list of item ids that are sent to workers during the test, in order; the test runs them itself."""
    queue = []
    monkeypatch.setattr(execution, "deliver_item", lambda pk: queue.append(pk))
    monkeypatch.setattr(execution.transaction, "on_commit", lambda send: send())
    return queue


def body(**facts):
    return {"template": "slow-log", "every": True, **facts}


def counts(operator, row):
    found = operator.get(f"/api/v1/fleet-applies/{row}").json()
    return found["state"], {state: count for state, count in found["counts"].items() if count}


def work(queue):
    while queue:
        execution.run_items(queue.pop(0))


def test_a_preview_lists_every_instance_and_keeps_nothing(viewer, fleet, template):
    preview = viewer.post("/api/v1/fleet-applies/preview", body()).json()
    assert len(preview["items"]) == 4
    lines = preview["items"][0]["lines"]
    assert {line["name"]: line["new_value"] for line in lines} == {
        "long_query_time": "2",
        "sort_buffer_size": "1048576",
    }
    assert not FleetApply.objects.exists()


def test_a_preview_has_the_values_that_the_newest_sample_found(viewer, instance):
    template_create(
        name="larger", engine_line="5.7", values={"innodb_buffer_pool_size": "512M", "query_cache_type": "0"}
    )
    readings = {"pool_size_bytes": 268435456.0}
    Latest.objects.create(instance=instance, at=1.0, readings=readings, growth={})
    asked = {"template": "larger", "instances": [instance.pk]}
    lines = viewer.post("/api/v1/fleet-applies/preview", asked).json()["items"][0]["lines"]
    assert {line["name"]: line["old_value"] for line in lines} == {
        "innodb_buffer_pool_size": "268435456",
        "query_cache_type": "0",
    }


def test_what_blocks_an_instance_names_the_parameter(viewer, fleet):
    values = {"query_cache_limit": "2M", "sort_buffer_size": "1M"}
    template_create(name="too-large", engine_line=line_id(fleet.engine_version)[0], values=values)
    asked = {"template": "too-large", "instances": [fleet.pk]}
    item = viewer.post("/api/v1/fleet-applies/preview", asked).json()["items"][0]
    assert item["blocking"] == [
        "query_cache_limit: 2097152 is above the maximum of 1048576 bytes; needed: 1 to 1048576"
    ]


def test_every_item_is_applied_or_says_why_not(operator, fleet, template, delivered):
    row = operator.post("/api/v1/fleet-applies", body(max_failures=10, start=True)).json()["id"]
    execution.advance(row)
    work(delivered)
    assert counts(operator, row) == ("done", {"applied": 1, "failed": 3})
    items = operator.get(f"/api/v1/fleet-applies/{row}/items?state=failed").json()["items"]
    assert all("server_unreachable" in item["detail"] or "reach" in item["detail"] for item in items)
    assert fleet.parameters.get(name="long_query_time").submitted == "2"


def test_an_account_that_lacks_a_privilege_is_told_what_to_grant(operator, shared_server, template, delivered):
    account = "'limited'@'127.0.0.1'"
    server = shared_server.connect()
    server.run(f"CREATE USER {account} IDENTIFIED BY 'of-few-rights'")
    limited = row_for(shared_server, provider="external", username="limited")
    limited.password = "of-few-rights"
    limited.save()
    asked = {"template": "slow-log", "instances": [limited.pk], "start": True}
    row = operator.post("/api/v1/fleet-applies", asked).json()["id"]
    execution.advance(row)
    work(delivered)
    server.run(f"DROP USER {account}")
    server.close()
    [item] = operator.get(f"/api/v1/fleet-applies/{row}/items").json()["items"]
    assert item["state"] == "failed"
    assert item["detail"].endswith(f"GRANT SUPER ON *.* TO {account};")


def test_it_stops_at_the_first_failure_too_many(operator, fleet, template, delivered):
    row = operator.post("/api/v1/fleet-applies", body(tags={"tier": "gone"}, every=False, parallelism=1, start=True))
    execution.advance(row.json()["id"])
    work(delivered)
    assert counts(operator, row.json()["id"]) == ("stopped", {"failed": 1, "skipped": 2})


def test_what_was_handed_out_and_not_begun_when_it_stops_is_left_alone(operator, fleet, template, delivered):
    asked = body(tags={"tier": "gone"}, every=False, parallelism=3, start=True)
    row = operator.post("/api/v1/fleet-applies", asked).json()["id"]
    execution.advance(row)
    assert len(delivered) == 3
    work(delivered)
    assert counts(operator, row) == ("stopped", {"failed": 1, "skipped": 2})


def test_what_was_handed_out_and_not_begun_when_it_is_paused_waits_until_it_is_resumed(
    operator, fleet, template, delivered
):
    row = operator.post("/api/v1/fleet-applies", body(parallelism=2, max_failures=10, start=True)).json()["id"]
    execution.advance(row)
    operator.post(f"/api/v1/fleet-applies/{row}/pause")
    work(delivered)
    assert counts(operator, row) == ("paused", {"pending": 4})
    operator.post(f"/api/v1/fleet-applies/{row}/resume")
    execution.advance(row)
    work(delivered)
    assert counts(operator, row) == ("done", {"applied": 1, "failed": 3})


def test_an_item_that_still_looks_at_its_server_when_all_is_aborted_changes_nothing(
    operator, fleet, template, delivered, monkeypatch
):
    row = operator.post("/api/v1/fleet-applies", {"template": "slow-log", "instances": [fleet.pk], "start": True})
    look = execution.preview_parameters

    def aborted_meanwhile(*arguments, **facts):
        operator.post(f"/api/v1/fleet-applies/{row.json()['id']}/abort")
        return look(*arguments, **facts)

    monkeypatch.setattr(execution, "preview_parameters", aborted_meanwhile)
    execution.advance(row.json()["id"])
    work(delivered)
    assert counts(operator, row.json()["id"]) == ("aborted", {"failed": 1})
    assert not fleet.changes.exists()


def test_no_more_items_are_handed_out_than_may_run_at_once(operator, fleet, template, delivered):
    row = operator.post("/api/v1/fleet-applies", body(parallelism=2, start=True)).json()["id"]
    execution.advance(row)
    execution.advance(row)
    assert len(delivered) == 2


def test_a_worker_goes_on_with_the_next_item_by_itself_and_for_no_longer_than_its_turn(
    operator, fleet, template, delivered, monkeypatch
):
    facts = {"parallelism": 1, "max_failures": 10, "start": True}
    monkeypatch.setattr(execution, "OWN_SECONDS", float("inf"))
    row = operator.post("/api/v1/fleet-applies", body(**facts)).json()["id"]
    execution.advance(row)
    first, *more = delivered
    assert not more
    execution.run_items(first)
    assert counts(operator, row) == ("done", {"applied": 1, "failed": 3})
    assert delivered == [first]
    row = operator.post("/api/v1/fleet-applies", body(**facts)).json()["id"]
    monkeypatch.setattr(execution, "OWN_SECONDS", 0.0)
    execution.advance(row)
    work(delivered[1:2])
    assert len(delivered) == 3, "the next one is anybody's"


def test_a_change_of_a_fleet_apply_costs_a_known_number_of_statements(operator, fleet, template, delivered):
    """The number of statements for one instance stays within a limit: each step of its change costs some, and nothing
    else grows with the number of parameters.
    """
    before = 0
    # The first run is not counted, since caches of the process may be filled by it or by an earlier test.
    runs = [({"long_query_time": "1"}, None), ({"long_query_time": "2"}, 92)]
    runs += [({"long_query_time": "3", "sort_buffer_size": "2M"}, 100)]
    for number, (values, most) in enumerate(runs):
        with acting_as("tester"):
            template_create(name=f"run-{number}", engine_line="5.7", values=values)
        asked = {"template": f"run-{number}", "instances": [fleet.pk], "start": True}
        row = operator.post("/api/v1/fleet-applies", asked).json()["id"]
        execution.advance(row)
        with sent() as found:
            work(delivered[before:])
        # Checked first: a change that failed and was undone takes more statements, which do not show why.
        failure = FleetApply.objects.get(pk=row).items.get().detail
        assert (counts(operator, row), failure) == (("done", {"applied": 1}), "")
        assert most is None or len(found) <= most, listed(found)
        before = len(delivered)


def test_the_end_of_each_item_is_told_and_its_counts_are_read_once_for_all_that_is_told(
    operator, fleet, template, delivered, django_assert_num_queries
):
    row = operator.post("/api/v1/fleet-applies", body(max_failures=10, start=True)).json()["id"]
    execution.advance(row)
    work(delivered)
    events = list(Event.objects.filter(topic="fleet_apply", subject=row).order_by("id"))
    assert [event.facts["state"] for event in events] == ["previewed", *["running"] * 5, "done"]
    with django_assert_num_queries(1):
        told = event_payloads(events, ())
    for each in told:
        assert {state: count for state, count in each["counts"].items() if count} == {"applied": 1, "failed": 3}


def test_an_item_that_is_delivered_twice_is_applied_once(operator, fleet, template, delivered):
    row = operator.post("/api/v1/fleet-applies", {"template": "slow-log", "instances": [fleet.pk], "start": True})
    execution.advance(row.json()["id"])
    work([*delivered, *delivered])
    assert fleet.changes.count() == 1


def test_a_paused_one_hands_out_nothing_until_it_is_resumed(operator, fleet, template, delivered):
    path = "/api/v1/fleet-applies/" + operator.post("/api/v1/fleet-applies", body(start=True)).json()["id"]
    assert operator.post(path + "/pause").json()["state"] == "paused"
    execution.advance(path.rsplit("/", 1)[1])
    assert delivered == []
    assert operator.post(path + "/resume").json()["state"] == "running"
    execution.advance(path.rsplit("/", 1)[1])
    assert len(delivered) == 4


def test_an_aborted_one_skips_what_has_not_begun(operator, fleet, template, delivered):
    row = operator.post("/api/v1/fleet-applies", body(start=True)).json()["id"]
    assert operator.post(f"/api/v1/fleet-applies/{row}/abort").json()["state"] == "aborted"
    assert counts(operator, row) == ("aborted", {"skipped": 4})
    with pytest.raises(Conflict):
        services.fleet_apply_resume(FleetApply.objects.get(pk=row))


def test_an_instance_that_moved_since_the_preview_is_left_alone(operator, fleet, template, delivered):
    row = operator.post("/api/v1/fleet-applies", {"template": "slow-log", "instances": [fleet.pk]}).json()["id"]
    Instance.objects.filter(pk=fleet.pk).update(version=99)
    operator.post(f"/api/v1/fleet-applies/{row}/start")
    execution.advance(row)
    work(delivered)
    item = operator.get(f"/api/v1/fleet-applies/{row}/items").json()["items"][0]
    assert (item["state"], item["change"]) == ("failed", None)


def test_what_the_cache_needs_blocks_items_before_anything_runs(operator, fleet):
    answer = operator.post("/api/v1/fleet-applies", {"template": "fast-query-cache-on", "tags": {"tier": "gone"}})
    assert counts(operator, answer.json()["id"]) == ("previewed", {"blocked": 3})


def test_a_worker_that_died_between_two_writes_is_found_by_the_sweep(operator, fleet, template, delivered):
    row = operator.post("/api/v1/fleet-applies", {"template": "slow-log", "instances": [fleet.pk], "start": True})
    execution.advance(row.json()["id"])
    item = FleetApply.objects.get().items.get()
    item.state = "running"
    item.save()
    change = execution._change_for(item)
    changes_execution.change_run(change.pk)
    execution.sweep()  # the change has ended, but the item is not updated
    assert FleetApply.objects.get().items.get().state == "applied"


def test_an_item_that_waited_long_for_its_worker_is_not_taken_for_lost_when_it_begins(
    operator, fleet, template, delivered, monkeypatch
):
    row = operator.post("/api/v1/fleet-applies", {"template": "slow-log", "instances": [fleet.pk], "start": True})
    execution.advance(row.json()["id"])
    FleetApply.objects.get().items.update(dispatched_at=timezone.now() - timedelta(hours=1))
    look = execution.preview_parameters

    def swept_meanwhile(*arguments, **facts):
        execution.sweep()
        return look(*arguments, **facts)

    monkeypatch.setattr(execution, "preview_parameters", swept_meanwhile)
    work(delivered)
    assert counts(operator, row.json()["id"]) == ("done", {"applied": 1})


@pytest.mark.parametrize(("steer", "ends"), [("", ("done", {"applied": 1})), ("abort", ("aborted", {"skipped": 1}))])
def test_a_worker_that_died_before_its_change_was_made_leaves_an_item_for_the_next(
    operator, fleet, template, delivered, steer, ends
):
    row = operator.post("/api/v1/fleet-applies", {"template": "slow-log", "instances": [fleet.pk], "start": True})
    execution.advance(row.json()["id"])
    long_ago = timezone.now() - timedelta(hours=1)
    delivered.clear()
    FleetApply.objects.get().items.update(state="running", dispatched_at=long_ago)
    if steer:
        operator.post(f"/api/v1/fleet-applies/{row.json()['id']}/{steer}")
    execution.sweep()
    execution.advance(row.json()["id"])
    work(delivered)
    assert counts(operator, row.json()["id"]) == ends


def test_a_worker_that_was_only_slow_neither_changes_nor_ends_an_item_that_another_one_has_now(
    operator, fleet, template, delivered, settings, monkeypatch
):
    row = operator.post("/api/v1/fleet-applies", {"template": "slow-log", "instances": [fleet.pk], "start": True})
    execution.advance(row.json()["id"])
    look, looks = execution.preview_parameters, []

    def taken_over_meanwhile(*arguments, **facts):
        looks.append(arguments)
        if len(looks) == 1:
            FleetApply.objects.get().items.update(dispatched_at=timezone.now() - timedelta(hours=1))
            execution.sweep()
            execution.advance(row.json()["id"])
            work(delivered)
        return look(*arguments, **facts)

    monkeypatch.setattr(execution, "preview_parameters", taken_over_meanwhile)
    work(delivered)
    assert len(looks) == 2 and fleet.changes.count() == 1
    assert counts(operator, row.json()["id"]) == ("done", {"applied": 1})


def test_a_list_costs_the_same_however_long_it_is(operator, template, fleet, django_assert_num_queries):
    for _ in range(2):
        operator.post("/api/v1/fleet-applies", body())
    with django_assert_num_queries(3):  # token, page, counts of the page
        operator.get("/api/v1/fleet-applies")


@pytest.mark.parametrize("path", ["/api/v1/fleet-applies", "/api/v1/fleet-applies/preview"])
def test_a_misspelt_field_is_refused_by_name(operator, template, fleet, path):
    answer = operator.post(path, body(max_failure=0, tag={"tier": "gone"}))
    assert answer.status_code == 400
    assert [(each["field"], each["code"]) for each in answer.json()["errors"]] == [
        ("max_failure", "unknown_field"),
        ("tag", "unknown_field"),
    ]
    assert "max_failures" in answer.json()["errors"][0]["detail"] or path.endswith("preview")
    assert not FleetApply.objects.exists()


def test_a_name_nobody_has_is_refused_by_field(operator, template):
    answer = operator.post("/api/v1/fleet-applies", {"template": "slow-log", "instances": ["nobody"]})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "instances"


def test_an_instance_of_a_fleet_apply_uses_its_template_also_if_it_had_the_values_already(
    operator, fleet, template, delivered
):
    for outcome in ("applied", "unchanged"):
        TemplateUse.objects.all().delete()
        row = operator.post("/api/v1/fleet-applies", {"template": "slow-log", "instances": [fleet.pk], "start": True})
        execution.advance(row.json()["id"])
        work(delivered)
        assert counts(operator, row.json()["id"]) == ("done", {outcome: 1})
        assert [use.instance_id for use in template.uses.all()] == [fleet.pk]


def test_what_is_never_set_blocks_every_instance_whoever_asks(operator, admin, fleet):
    before = Template.objects.create(name="from-before", engine_line="5.7")
    TemplateVersion.objects.create(template=before, number=1, values={"general_log_file": "/tmp/x"}, actor="somebody")
    for client in (operator, admin):
        asked = body(template="from-before", instances=[fleet.pk], every=False)
        [item] = client.post("/api/v1/fleet-applies/preview", asked, format="json").json()["items"]
        assert "general_log_file is not set through this product" in item["blocking"][0]
        made = client.post("/api/v1/fleet-applies", {**asked, "start": False}, format="json").json()
        assert made["counts"]["blocked"] == 1


def test_what_is_for_administrators_is_started_and_resumed_by_them_alone(
    operator, admin, fleet, delivered, shared_server
):
    with acting_as("an administrator", role="admin"):
        template_create(name="events", engine_line="5.7", values={"event_scheduler": "ON"})
    asked = {"template": "events", "instances": [fleet.pk], "start": False}
    mine = operator.post("/api/v1/fleet-applies", asked, format="json").json()
    assert (mine["counts"]["blocked"], mine["needs_admin"]) == (1, False)

    theirs = admin.post("/api/v1/fleet-applies", asked, format="json").json()
    assert (theirs["counts"]["pending"], theirs["needs_admin"]) == (1, True)
    address = f"/api/v1/fleet-applies/{theirs['id']}"
    refused = operator.post(f"{address}/start")
    assert (refused.status_code, refused.json()["code"]) == (403, "admin_only")
    assert admin.post(f"{address}/start").status_code == 200
    assert operator.post(f"{address}/pause").status_code == 200
    assert operator.post(f"{address}/resume").json()["code"] == "admin_only"
    assert admin.post(f"{address}/resume").status_code == 200
    execution.advance(theirs["id"])
    work(delivered)
    assert counts(operator, theirs["id"]) == ("done", {"applied": 1})
    server = shared_server.connect()
    assert server.variable("event_scheduler") == "ON"
    server.set_global("event_scheduler", "OFF")
    server.close()


def test_a_rollout_does_not_set_what_its_preview_did_not_say_is_for_administrators(
    operator, fleet, template, delivered
):
    row = operator.post(
        "/api/v1/fleet-applies", {"template": "slow-log", "instances": [fleet.pk]}, format="json"
    ).json()
    FleetApply.objects.update(values={"event_scheduler": "ON"})  # as if the variable's access class had changed since
    operator.post(f"/api/v1/fleet-applies/{row['id']}/start")
    execution.advance(row["id"])
    work(delivered)
    assert counts(operator, row["id"])[1] == {"failed": 1}


def test_what_waits_for_its_window_or_a_time_begins_when_that_comes(operator, fleet, template, delivered):
    now = timezone.now()
    Instance.objects.filter(pk=fleet.pk).update(window_start=(now - timedelta(minutes=5)).time(), window_minutes=60)
    Instance.objects.exclude(pk=fleet.pk).update(window_start=(now + timedelta(hours=3)).time(), window_minutes=60)
    row = operator.post("/api/v1/fleet-applies", body(when="window", start=True)).json()["id"]
    execution.advance(row)
    work(delivered)
    assert counts(operator, row) == ("running", {"applied": 1, "pending": 3})
    operator.post(f"/api/v1/fleet-applies/{row}/abort")

    asked = body(instances=[fleet.pk], every=False, when="at", at=(now + timedelta(hours=1)).isoformat(), start=True)
    made = operator.post("/api/v1/fleet-applies", asked).json()
    execution.advance(made["id"])
    assert (made["when"], counts(operator, made["id"]), delivered) == ("at", ("running", {"pending": 1}), [])
    FleetApply.objects.filter(pk=made["id"]).update(at=now)
    execution.advance(made["id"])
    work(delivered)
    assert counts(operator, made["id"]) == ("done", {"unchanged": 1})


def test_all_that_a_fleet_apply_changed_is_rolled_back_at_once(operator, fleet, template, delivered):
    row = operator.post("/api/v1/fleet-applies", body(max_failures=10, start=True)).json()["id"]
    early = operator.post(f"/api/v1/fleet-applies/{row}/rollback")
    assert (early.status_code, early.json()["code"]) == (409, "wrong_state")
    execution.advance(row)
    work(delivered)
    answer = operator.post(f"/api/v1/fleet-applies/{row}/rollback")
    back = answer.json()
    assert (answer.status_code, back["reverts"]) == (201, row)
    execution.advance(back["id"])
    work(delivered)
    assert counts(operator, back["id"]) == ("done", {"applied": 1})
    [item] = operator.get(f"/api/v1/fleet-applies/{back['id']}/items").json()["items"]
    assert {line["name"]: line["old_value"] for line in item["lines"]}["long_query_time"] == "2"
    assert not fleet.parameters.filter(name="long_query_time").exists()
    assert fleet.changes.get(pk=item["change"]).reverts.kind == "parameters"
    again = operator.post(f"/api/v1/fleet-applies/{row}/rollback")
    assert (again.status_code, again.json()["code"]) == (409, "nothing_to_restore")
