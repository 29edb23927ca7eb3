"""States of instances as rules that ship watch them: from the fleet's rows to incidents."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from controlplane.alerts.evaluation import evaluate
from controlplane.alerts.models import AlertRule, Incident
from controlplane.alerts.readings import READINGS
from controlplane.alerts.states import STATES
from controlplane.changes.models import ChangeSet
from controlplane.core.periodic import last_done_at, last_done_note
from controlplane.fleet.models import Instance, InstanceParameter, LookFault
from controlplane.fleet.observation import identity_of, note_identity
from controlplane.metrics import polling
from controlplane.metrics.models import Latest
from controlplane.metrics.polling import ROUND_ENDED
from controlplane.metrics.tests.fleet import instance_make

pytestmark = pytest.mark.django_db
T = int(timezone.now().timestamp()) // 60 * 60


def looks(*, minutes: float, start: float = 0) -> list[tuple[str, str]]:
    """Evaluates all rules every 5 s for so many minutes, from minute `start` on.

    Returns metric and instance name of the incidents that are open afterwards.
    """
    for number in range(int(minutes * 12) + 1):
        evaluate(T + start * 60 + number * 5)
    return list(Incident.objects.filter(resolved_at=None).values_list("metric", "instance_name"))


def test_each_state_has_its_reading() -> None:
    assert STATES.keys() == READINGS.keys()


def test_a_server_that_does_not_answer_for_ten_seconds_opens_an_incident_and_closes_it_when_it_is_back() -> None:
    instance = instance_make(name="shop-1", state="unreachable", state_reason="connection refused")
    assert looks(minutes=5 / 60) == []
    assert looks(minutes=5 / 60, start=10 / 60) == [("unreachable", "shop-1")]
    assert Incident.objects.get().events.get(kind="opened").detail == "connection refused"
    Instance.objects.filter(pk=instance.pk).update(state="changing")
    # a change may restart the server, so its state is unknown
    assert looks(minutes=5, start=2) == [("unreachable", "shop-1")]
    Instance.objects.filter(pk=instance.pk).update(state="running")
    assert looks(minutes=2, start=8) == []


def silent(*, seconds: float, missed_again: bool) -> Instance:
    """Makes an instance, `shop-1`, that became unreachable at T. If `missed_again`, a second probe failed half of
    `seconds` later; otherwise only one has failed."""
    began = datetime.fromtimestamp(T, UTC)
    second = began + timedelta(seconds=seconds / 2) if missed_again else None
    return instance_make(name="shop-1", state="unreachable", state_since=began, missed_again_at=second)


def test_how_long_a_server_is_unreachable_counts_from_when_it_began_and_not_by_evaluations() -> None:
    silent(seconds=9, missed_again=True)
    evaluate(T + 9)
    assert not Incident.objects.exists()
    evaluate(T + 14)
    assert Incident.objects.get().metric == "unreachable"


def test_a_first_evaluation_that_is_late_opens_the_incident_at_once() -> None:
    silent(seconds=30, missed_again=True)
    assert evaluate(T + 30) == 1


def test_a_single_missed_probe_is_no_incident_however_often_it_is_evaluated() -> None:
    AlertRule.objects.filter(metric="unreachable").update(for_seconds=0)
    silent(seconds=60, missed_again=False)
    assert looks(minutes=2) == []


def test_a_clock_that_was_set_back_to_before_the_beginning_does_not_keep_the_incident_from_opening() -> None:
    instance = silent(seconds=9, missed_again=True)
    Instance.objects.filter(pk=instance.pk).update(state_since=datetime.fromtimestamp(T + 3600, UTC))
    assert looks(minutes=10 / 60) == [("unreachable", "shop-1")]


@pytest.mark.parametrize("state", ["running", "stopped", "failed", "creating"])
def test_a_server_that_is_not_expected_to_answer_is_no_incident(state: str) -> None:
    instance_make(state=state)
    assert looks(minutes=3) == []


VARIABLES = {"version": "10.11.11-MariaDB", "fqc_minor_version": "20261120", "fqc_compatibility": "full"}


def seen(instance: Instance, **missing: Any) -> None:
    note_identity(instance, identity_of({**VARIABLES, **missing}, {"Uptime": "5"}, T))


def test_a_server_that_loses_the_plugin_opens_an_incident_until_it_has_it_again() -> None:
    instance = instance_make(name="shop-1")
    seen(instance)
    assert looks(minutes=2) == []
    seen(instance, fqc_minor_version="", fqc_compatibility="")
    assert looks(minutes=1.5, start=3) == [("engine_lost", "shop-1")]
    seen(instance)
    assert looks(minutes=2, start=6) == []


def test_a_server_that_never_had_the_plugin_has_not_lost_it() -> None:
    seen(instance_make(), fqc_minor_version="", fqc_compatibility="")
    assert looks(minutes=3) == []


def test_drift_names_the_parameters() -> None:
    instance = instance_make(name="shop-1")
    for name in ("max_connections", "long_query_time"):
        InstanceParameter.objects.create(instance=instance, name=name, submitted="1", resolved="1", is_drifted=True)
    assert looks(minutes=6) == [("drifted_parameters", "shop-1")]
    incident = Incident.objects.get()
    assert (incident.opened_value, incident.events.get(kind="opened").detail) == (2, "long_query_time, max_connections")


def changed(instance: Instance, state: str, ago: timedelta, code: str = "server_refused") -> None:
    ChangeSet.objects.create(
        instance=instance, instance_name=instance.name, instance_version=1, state=state, outcome_code=code,
        outcome_detail="it said no", created_by="dba", finished_at=timezone.now() - ago,
    )  # fmt: skip


@pytest.mark.parametrize("state", ["failed", "rolled_back"])
def test_a_change_that_went_wrong_is_an_incident_at_once_until_one_is_applied(state: str) -> None:
    instance = instance_make(name="shop-1")
    changed(instance, state, timedelta(minutes=5))
    assert looks(minutes=0) == [("change_failed", "shop-1")]
    assert Incident.objects.get().events.get(kind="opened").detail.endswith("it said no")
    changed(instance, "applied", timedelta())
    assert looks(minutes=0, start=1) == []


def test_neither_what_somebody_aborted_nor_what_is_long_past_is_an_incident() -> None:
    instance = instance_make()
    changed(instance, "rolled_back", timedelta(minutes=5), code="aborted")
    changed(instance, "failed", timedelta(hours=25))
    assert looks(minutes=1) == []


def test_answers_that_cannot_be_used_are_an_incident_until_they_can() -> None:
    instance = instance_make(name="shop-1")
    for duty in ("poll", "watch"):
        fault = LookFault.objects.create(instance=instance, duty=duty, detail="KeyError", at=timezone.now())
    assert looks(minutes=2) == [("answers_unusable", "shop-1")]
    incident = Incident.objects.get()
    assert (incident.opened_value, incident.events.get(kind="opened").detail) == (2, "poll: KeyError; watch: KeyError")
    LookFault.objects.all().delete()
    assert looks(minutes=2, start=3) == []
    fault.pk, fault.at = None, timezone.now() - timedelta(days=2)
    fault.save(force_insert=True)
    assert looks(minutes=2, start=6) == [], "nobody has met it for two days"


def sampled(instance: Instance, ago: timedelta) -> None:
    Instance.objects.filter(pk=instance.pk).update(created_at=timezone.now() - timedelta(days=1))
    at = (timezone.now() - ago).timestamp()
    Latest.objects.update_or_create(instance=instance, defaults={"at": at, "readings": {}, "growth": {}})


def test_a_running_server_without_samples_is_an_incident_until_it_has_them() -> None:
    last_done_note(ROUND_ENDED, timezone.now().timestamp())
    instance = instance_make(name="shop-1")
    assert looks(minutes=2) == [], "it was registered just now"
    sampled(instance_make(name="shop-2"), timedelta(seconds=30))
    sampled(instance, timedelta(minutes=3))
    assert looks(minutes=2, start=3) == [("samples_missing", "shop-1")]
    assert Incident.objects.get().events.get(kind="opened").detail.startswith("no sample could be taken since 20")
    sampled(instance, timedelta())
    assert looks(minutes=2, start=6) == []


def test_if_no_round_of_polls_has_ended_for_three_intervals_every_running_server_says_so() -> None:
    for name in ("shop-1", "shop-2"):
        sampled(instance_make(name=name), timedelta(minutes=10))
    sampled(instance_make(name="stopped", state="stopped"), timedelta(minutes=10))
    last_done_note(ROUND_ENDED, (timezone.now() - timedelta(minutes=5)).timestamp())
    assert sorted(looks(minutes=2)) == [("samples_missing", "shop-1"), ("samples_missing", "shop-2")]
    for incident in Incident.objects.all():
        assert incident.events.get(kind="opened").detail.startswith("no round of polls has completed since 20")


def test_a_round_that_ends_is_noted_and_one_that_fails_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    polling.poll_if_due(T)
    ended = last_done_at(ROUND_ENDED)
    assert ended is not None
    monkeypatch.setattr(polling, "poll_round", lambda at: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        polling.poll_if_due(T + 60)
    assert last_done_at(ROUND_ENDED) == ended
