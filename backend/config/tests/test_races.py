"""Rules that read and then write hold when many requests come at the same moment, on every supported database.

There is one entry in the table for each such rule of the backend: what exists before, what each of many does at once,
and what is true afterwards. On PostgreSQL two transactions see the same past; on SQLite one waits for the other.
"""

from __future__ import annotations

from functools import partial

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import transaction

from controlplane.accounts import access_key_services
from controlplane.accounts import services as accounts
from controlplane.accounts.models import LoginFailure, Token, User
from controlplane.accounts.selectors import admin_list
from controlplane.alerts import services as alerts
from controlplane.alerts.evaluation import evaluate
from controlplane.alerts.models import AlertRule, Incident
from controlplane.audit.models import AuditEvent
from controlplane.catalogue.models import EngineLine
from controlplane.catalogue.services import engine_line_store
from controlplane.changes import instance_services
from controlplane.changes import services as changes
from controlplane.changes.execution import claim
from controlplane.changes.models import ChangeSet
from controlplane.changes.plan import Step
from controlplane.changes.planning import build
from controlplane.changes.rescheduling import change_reschedule
from controlplane.changes.states import Kind
from controlplane.changes.upkeep import take_over
from controlplane.core import clock, idempotency, known_names
from controlplane.core.errors import Problem
from controlplane.core.models import RateCount
from controlplane.core.one_at_a_time import one_at_a_time
from controlplane.core.rate_counts import RateCounts
from controlplane.core.request_context import Caller, acting_as
from controlplane.core.turns import turn_claim
from controlplane.fleet import services as fleet
from controlplane.fleet.models import Instance, InstanceClass
from controlplane.metrics.models import Sample
from controlplane.metrics.partitions import partitions_ensure
from controlplane.metrics.tests.fleet import class_make, instance_make
from controlplane.near_caches.models import NearCache
from controlplane.near_caches.reports import near_report
from controlplane.parameters import services as parameters
from controlplane.parameters.models import Template, TemplateVersion
from controlplane.rollouts import execution as rollouts_execution
from controlplane.rollouts import services as rollouts
from controlplane.rollouts.models import FleetApply, FleetApplyItem
from controlplane.rpc.actions.timing import task_number
from controlplane.rpc.freshness import check_fresh
from controlplane.settings.selectors import settings_get
from controlplane.settings.services import settings_update
from testing.near import REPORT
from testing.races import at_once, codes
from testing.servers import row_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("shipped_classes")]
MANY = 12


def as_tester(work, *args, **facts):
    with acting_as("tester", "usr-tester"):
        return work(*args, **facts)


def many(work, *args, **facts):
    return at_once(*[partial(as_tester, work, *args, **facts)] * MANY)


def each(work, given):
    return at_once(*(partial(as_tester, work, one) for one in given))


def one_won(outcomes, code):
    refused = codes(outcomes)
    assert refused == [code] * (len(outcomes) - 1), outcomes
    return next(outcome for outcome in outcomes if not isinstance(outcome, Problem))


def admin(name, **facts):
    return User.objects.create(username=name, role="admin", **facts)


# Accounts

ENDINGS = {
    "delete": accounts.user_delete,
    "disable": lambda user: accounts.user_update(user, {"is_active": False}),
    "demote": lambda user: accounts.user_update(user, {"role": "viewer"}),
}


@pytest.mark.parametrize("first", ENDINGS)
@pytest.mark.parametrize("second", ENDINGS)
def test_of_admins_who_remove_each_other_one_stays(first, second):
    rows = [admin(f"admin-{number}") for number in range(MANY)]
    endings = [partial(ENDINGS[[first, second][number % 2]], row) for number, row in enumerate(rows)]
    outcomes = each(lambda ending: ending(), endings)
    assert admin_list().count() == 1
    assert codes(outcomes) == ["last_admin"]


@pytest.mark.parametrize("left", ["nobody", "disabled", "demoted", "demoted in capitals"])
def test_a_house_without_an_admin_gets_one_however_often_it_is_asked_for(left, settings, tmp_path, capsys):
    settings.RUN_DIR = tmp_path
    if left != "nobody":
        facts = {"is_active": False} if left == "disabled" else {"role": "viewer"}
        row = User.objects.create(username="ADMIN" if "capitals" in left else "admin", **{"role": "admin", **facts})
        Token.objects.create(user=row, name="old", prefix="old", scope="admin", expires_at=clock.shared_now())
    at_once(*[lambda: call_command("ensure_admin", "--json")] * 4)
    assert len(set(capsys.readouterr().out.splitlines())) == 1
    [now] = admin_list()
    assert now.check_password((tmp_path / "admin-password").read_text().strip())
    assert not now.tokens.filter(revoked_at=None, expires_at__gt=clock.shared_now()).exists()


def test_a_name_has_one_user():
    one_won(many(accounts.user_create, username="alice", password="correct horse battery", role="viewer"), "name_taken")


def test_of_many_guesses_at_once_five_are_heard_however_right_the_last_one_is():
    with acting_as("test"):
        accounts.user_create(username="alice", password="correct horse battery", role="viewer")
    LoginFailure.objects.create(username="alice", address="127.0.0.1", count=accounts.FAILURES_ALLOWED - 1)
    outcomes = many(accounts.login_check, "alice", "wrong", address="127.0.0.1")
    assert set(codes(outcomes)) <= {"wrong_credentials", "locked_out"}
    failures = codes(outcomes).count("wrong_credentials")
    assert LoginFailure.objects.get().count == accounts.FAILURES_ALLOWED - 1 + failures
    with pytest.raises(Problem, match="Too many failures"):
        accounts._forget_failures("alice", "127.0.0.1")  # a correct password that was checked while the others failed


def test_of_two_changes_of_ones_own_password_one_counts():
    with acting_as("test"):
        accounts.user_create(username="alice", password="correct horse battery", role="viewer")

    def change(number):
        user = User.objects.get()
        facts = {"keep_tokens": True, "asking": accounts.OwnCredential(), "address": "127.0.0.1"}
        return accounts.password_change(
            user, current_password="correct horse battery", new_password=f"another phrase {number}", **facts
        )

    outcomes = each(change, range(4))
    assert len(codes(outcomes)) == 3 and set(codes(outcomes)) <= {"own_password_moved", "invalid"}, outcomes


def test_what_is_revoked_or_deleted_is_so_once_and_on_record_once():
    user = admin("alice")
    with acting_as("test"):
        token, _ = accounts.token_create(user, name="t", scope="viewer")
        key, _ = access_key_services.access_key_create(user, name="k", scope="viewer", held="admin")
    one_won(many(accounts.token_revoke, token), "not_found")
    one_won(many(access_key_services.access_key_delete, key), "not_found")
    for action in ("token.revoked", "access_key.deleted"):
        assert AuditEvent.objects.filter(action=action).count() == 1


# The fleet

CLASS = {"cpu_count": 1, "memory_bytes": 1, "memory_reserve_bytes": 0, "max_connections": 1, "storage_bytes": 1}
RULE = {"metric": "questions_per_second", "comparison": "gt", "threshold": 1, "overrides": []}


def external(name, class_name="small"):
    return fleet.instance_record(
        name=name, provider="external", host="127.0.0.1", port=1, username="x", instance_class=class_make(class_name)
    )


NAMED = {
    "class": (lambda: fleet.class_create(name="one", **CLASS), InstanceClass),
    "instance": (lambda: external("one"), Instance),
    "template": (lambda: parameters.template_create(name="one", engine_line="5.7", values={}), Template),
    "rule": (lambda: alerts.rule_create(name="one", **RULE), AlertRule),
}


@pytest.mark.parametrize("kind", NAMED)
def test_a_name_is_given_once(kind):
    make, model = NAMED[kind]
    class_make()
    one_won(many(make), "name_taken")
    assert model.objects.filter(name="one").count() == 1


RENAMED = {
    "instance": (lambda n: instance_make(), lambda row: fleet.instance_update(row, {"name": "one"})),
    "template": (
        lambda n: parameters.template_create(name=f"t-{n}", engine_line="5.7", values={}),
        lambda row: parameters.template_update(template=row, name="one"),
    ),
    "rule": (
        lambda n: AlertRule.objects.create(name=f"r-{n}", **{k: v for k, v in RULE.items() if k != "overrides"}),
        lambda row: alerts.rule_update(rule=row, **{**RULE, "name": "one"}),
    ),
}


@pytest.mark.parametrize("kind", RENAMED)
def test_a_name_is_taken_over_once(kind):
    make, rename = RENAMED[kind]
    with acting_as("test"):
        rows = [make(number) for number in range(MANY)]
    one_won(each(rename, rows), "name_taken")


def test_a_class_is_deleted_or_used_and_never_both():
    for number in range(6):
        row = class_make(f"class-{number}")
        both = at_once(
            partial(as_tester, fleet.class_delete, row), partial(as_tester, external, f"i-{number}", row.name)
        )
        assert len(codes(both)) <= 1 and set(codes(both)) <= {"class_in_use", "not_found"}, both


def test_local_servers_have_ports_of_their_own():
    makes = [
        partial(instance_services.instance_create, name=f"local-{n}", provider="local", instance_class="local.small")
        for n in range(MANY)
    ]
    made = each(lambda make: make(), makes)
    assert len({instance.port for instance in made}) == MANY
    assert min(instance.port for instance in made) >= settings.LOCAL_PORT_BASE


def test_a_near_cache_that_reports_is_one_row_and_counts_once():
    instance = instance_make()
    near_report(instance, {**REPORT, "hits": 0}, "")
    assert codes(many(near_report, instance, REPORT, "")) == []
    near = NearCache.objects.get()
    assert (near.hits, near.unsampled_hits) == (30, 30)


def test_settings_that_are_made_and_changed_by_many_are_one_row_with_every_change():
    many(settings_get)
    each(lambda n: settings_update(settings_get(), {"poll_interval_seconds": 10 + n}), range(MANY))
    assert settings_get().version == MANY + 1


def test_every_change_of_a_template_is_a_version():
    with acting_as("test"):
        row = parameters.template_create(name="one", engine_line="5.7", values={})
    each(lambda n: parameters.template_update(template=row, values={"long_query_time": str(n + 1)}), range(MANY))
    numbers = list(TemplateVersion.objects.filter(template=row).values_list("number", flat=True))
    assert sorted(numbers) == list(range(1, MANY + 2))


def test_a_line_that_many_learn_is_one():
    before = EngineLine.objects.count()
    assert codes(many(engine_line_store, server_version="11.99.1-MariaDB", rows=[])) == []
    assert EngineLine.objects.count() == before + 1


# Changes


def restart_of(instance):
    preview = build(instance, [Step("restart")], is_live=False)
    return changes.change_make(instance, Kind.RESTART, preview)


def test_a_preview_is_approved_once():
    with acting_as("test"):
        change = restart_of(instance_make())
    one_won(many(changes.change_approve, change), "wrong_state")


@pytest.mark.parametrize("is_scheduled", [False, True])
def test_a_preview_is_applied_once(is_scheduled):
    with acting_as("test"):
        change = restart_of(instance_make())
        if is_scheduled:
            later = clock.shared_now() + rollouts_execution.LOST_AFTER
            change = changes.change_approve(change, "at", later)
    one_won(many(changes.change_apply_now, change), "wrong_state")
    assert AuditEvent.objects.filter(action="change.approved").count() == 1


def test_one_of_many_previews_of_an_instance_is_applied():
    instance = instance_make()
    with acting_as("test"):
        previews = [restart_of(instance) for _ in range(MANY)]
    one_won(each(changes.change_apply_now, previews), "change_at_work")


def test_an_instance_is_changed_by_one_request_and_nothing_is_kept_of_the_others():
    instance = instance_make()
    one_won(many(changes.change_proxy, instance, enabled=True, note="", **changes.AT_ONCE), "change_at_work")
    assert ChangeSet.objects.count() == 1


def test_an_instance_is_deleted_once_and_not_beside_a_change():
    instance = instance_make()
    outcomes = at_once(
        *[partial(as_tester, instance_services.instance_delete, instance)] * 6,
        *[partial(as_tester, changes.change_proxy, instance, enabled=True, note="", **changes.AT_ONCE)] * 6,
    )
    one_won(outcomes, "change_at_work")


def applied_change(instance):
    with acting_as("test"):
        change = restart_of(instance)
    change.lines.create(name="long_query_time", old_submitted="2", new_submitted="3", old_value="2", new_value="3")
    ChangeSet.objects.filter(pk=change.pk).update(state="applied")
    return ChangeSet.objects.get(pk=change.pk)


def test_a_change_is_rolled_back_once(shared_server):
    change = applied_change(row_for(shared_server))
    outcomes = many(changes.change_revert, change)
    made = one_won(outcomes, "reverted_already")
    assert list(change.reverted_by.all()) == [made]
    assert all(made.pk in outcome.detail for outcome in outcomes if isinstance(outcome, Problem))
    ChangeSet.objects.filter(pk=made.pk).update(state="applied")
    assert set(codes(many(changes.change_revert, change))) == {"reverted_already"}
    # the change was rolled back, so it may be tried again
    ChangeSet.objects.filter(pk=made.pk).update(state="rolled_back")
    assert codes(many(changes.change_revert, change)) == ["reverted_already"] * (MANY - 1)


def test_a_change_is_claimed_and_taken_over_by_one_worker():
    with acting_as("test"):
        change = changes.change_approve(restart_of(instance_make()))
    now = clock.shared_now()
    claims = many(lambda: claim(ChangeSet.objects.get(pk=change.pk), now))
    assert claims.count(True) == 1
    ChangeSet.objects.update(lease_until=now - rollouts_execution.LOST_AFTER)
    many(take_over, change.pk)
    assert AuditEvent.objects.filter(action__in=("change.rolled_back", "change.failed")).count() == 1


def test_a_change_is_aborted_once_or_moved_before():
    with acting_as("test"):
        change = changes.change_approve(restart_of(instance_make()), "window")
    later = clock.shared_now() + rollouts_execution.LOST_AFTER
    at_once(
        *[partial(as_tester, changes.change_abort, change)] * 6,
        *[partial(as_tester, change_reschedule, change, later)] * 6,
    )
    change.refresh_from_db()
    assert change.state == "aborted"
    assert AuditEvent.objects.filter(action="change.aborted").count() == 1


def test_a_change_has_one_number():
    with acting_as("test"):
        change = restart_of(instance_make())
    assert len(set(many(task_number, change))) == 1


# Rollouts


def fleet_apply(*, start, instances=()):
    return rollouts.fleet_apply_create(
        template="one", template_version=None, parallelism=2, max_failures=0, allow_restart=False, note="",
        start=start, instances=list(instances), tags={}, every=not instances,
    )  # fmt: skip


@pytest.fixture
def template():
    with acting_as("test"):
        return parameters.template_create(name="one", engine_line="5.7", values={"long_query_time": "2"})


def test_a_rollout_asked_for_many_times_at_once_is_one(template):
    [instance_make() for _ in range(4)]
    outcomes = many(fleet_apply, start=True)
    made = one_won(outcomes, "fleet_apply_running")
    assert [row.pk for row in FleetApply.objects.all()] == [made.pk]
    assert all(made.pk in outcome.detail for outcome in outcomes if isinstance(outcome, Problem))


def test_of_previews_that_are_alike_one_is_started_and_others_go_on_beside_it(template):
    first, second = instance_make(), instance_make()
    with acting_as("test"):
        alike = [fleet_apply(start=False, instances=[first.pk]) for _ in range(MANY)]
        other = fleet_apply(start=False, instances=[second.pk])
    one_won(each(rollouts.fleet_apply_start, alike), "fleet_apply_running")
    assert as_tester(rollouts.fleet_apply_start, other).state == "running"


def test_a_rollout_is_started_paused_and_aborted_once_and_hands_out_no_more_than_it_may(template):
    [instance_make() for _ in range(6)]
    with acting_as("test"):
        row = fleet_apply(start=False)
    one_won(many(rollouts.fleet_apply_start, row), "wrong_state")
    many(rollouts_execution.advance, row.pk)
    assert FleetApplyItem.objects.filter(state="dispatched").count() == 2
    one_won(many(rollouts.fleet_apply_pause, row), "wrong_state")
    one_won(many(rollouts.fleet_apply_abort, row), "wrong_state")


# Alerts


def test_an_incident_opens_once_and_is_acknowledged_once():
    instance = instance_make()
    rule = AlertRule.objects.create(
        name="busy", metric="questions_per_second", comparison="gt", threshold=1, for_seconds=0
    )
    now = clock.shared_now().timestamp()
    partitions_ensure(Sample, int(now), int(now))
    Sample.objects.create(instance_id=instance.pk, at=int(now), seconds=15, questions=10_000)
    many(evaluate, now)
    [incident] = Incident.objects.filter(rule=rule)
    assert incident.events.filter(kind="opened").count() == 1
    one_won(many(alerts.incident_acknowledge, incident=incident), "acknowledged_already")


def test_a_rule_is_deleted_once():
    with acting_as("test"):
        rule = alerts.rule_create(name="one", **RULE)
    one_won(many(alerts.rule_delete, rule=rule), "not_found")
    assert AuditEvent.objects.filter(action="alert_rule.deleted").count() == 1


# What all processes share


def test_a_turn_is_taken_by_one():
    assert many(turn_claim, "test", 1000.0, 60.0).count(True) == 1


def test_a_nonce_is_used_once():
    def use():
        try:
            check_fresh("signer", f"{clock.shared_now():%Y-%m-%dT%H:%M:%SZ}", "nonce")
        except Exception as error:
            return type(error).__name__
        return "accepted"

    assert many(use).count("accepted") == 1


def test_no_count_is_lost():
    each(lambda _: RateCounts().is_within("somebody", 100, 1000.0), range(MANY))
    assert RateCount.objects.get().count == MANY


def test_a_request_with_a_key_is_at_work_once():
    one_won(many(idempotency.claim, Caller(actor="tester", actor_id="usr-tester"), "key", "fingerprint"), "in_progress")


def test_the_first_requests_of_a_process_make_the_contract_once():
    known_names._contract_made.cache_clear()
    assert len({id(each) for each in at_once(*[known_names._contract] * 8)}) == 1


def test_a_lock_that_would_not_last_is_refused():
    with pytest.raises(RuntimeError):
        one_at_a_time("anything")
    with transaction.atomic():
        one_at_a_time("anything")
