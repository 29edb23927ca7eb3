"""One look at every enabled rule on every instance it covers.

Values are computed from the samples of the last moments, in one query for all rules. What changes is written one
(rule, instance) at a time, each in a transaction with the incident, its timeline, its audit event and its mail; a stand
that somebody else moved meanwhile is left to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db import IntegrityError, connection, transaction
from django.db.models import F

from controlplane.alerts.incidents import Told, incident_tell, incidents_abandon
from controlplane.alerts.judging import Sums, columns_of, condition_of, judged
from controlplane.alerts.models import AlertRule, RuleOverride, Standing
from controlplane.alerts.phases import OPEN, RESOLVED, Stand, step
from controlplane.alerts.selectors import rule_instances, rule_list
from controlplane.alerts.vocabulary import Phase
from controlplane.fleet.models import Instance
from controlplane.metrics.definitions import aggregate_of
from controlplane.metrics.models import Sample
from controlplane.settings.selectors import settings_get

WINDOW_SECONDS = 60


@dataclass(frozen=True)
class Move:
    """From one stand to the next, and what to tell of it."""

    rule: AlertRule
    instance: Instance
    standing: Standing | None
    next: Stand
    transition: str | None
    threshold: float
    value: float | None


def evaluate(now: float) -> int:
    """How many transitions were told."""
    incidents_abandon(datetime.fromtimestamp(now, UTC))
    rules = list(rule_list())
    sums = _recent_sums(_columns(rule for rule in rules if rule.is_enabled), now)
    return sum(_make(move, now) for rule in rules for move in _moves(rule, sums, now))


def _columns(rules: Iterable[AlertRule]) -> list[str]:
    return sorted({column for rule in rules for column in columns_of(rule.metric)})


def _recent_sums(columns: list[str], now: float) -> dict[str, Sums]:
    """Enough of the past for two samples at least, whatever the interval of polling."""
    if not columns:
        return {}
    since = int(now) - max(WINDOW_SECONDS, 2 * settings_get().poll_interval_seconds + 5)
    aggregates = ", ".join(f"{aggregate_of(column)}({column})" for column in columns)
    with connection.cursor() as cursor:
        # Column names come from the definitions, never from input.
        cursor.execute(
            f"SELECT instance_id, {aggregates} FROM {Sample._meta.db_table}"  # noqa: S608
            " WHERE at > %s AND at <= %s GROUP BY instance_id",
            [since, int(now)],
        )
        return {pk: dict(zip(columns, map(_number, cells), strict=True)) for pk, *cells in cursor.fetchall()}


def _number(cell: object) -> float | None:
    return None if cell is None else float(cell)  # type: ignore[arg-type]


def _moves(rule: AlertRule, sums: Mapping[str, Sums], now: float) -> Iterable[Move]:
    standings = {standing.instance_id: standing for standing in rule.standings.select_related("instance")}
    overrides: dict[str, RuleOverride] = {override.instance_id: override for override in rule.overrides.all()}
    covered = rule_instances(rule) if rule.is_enabled else Instance.objects.none()
    for instance in covered:
        override = overrides.get(instance.pk)
        if override and override.is_exempt:
            continue
        standing = standings.pop(instance.pk, None)
        move = _move(rule, instance, standing, override and override.threshold, sums.get(instance.pk, {}), now)
        if move:
            yield move
    for standing in standings.values():
        yield _uncovered(rule, standing)


def _move(
    rule: AlertRule, instance: Instance, standing: Standing | None, threshold: float | None, sums: Sums, now: float
) -> Move | None:
    condition = condition_of(rule, threshold)
    value, broken = judged(condition, rule.metric, sums)
    stand = _stand(standing)
    following, transition = step(stand, condition, broken, now)
    if following == stand:
        return None
    return Move(rule, instance, standing, following, transition, condition.threshold, value)


def _uncovered(rule: AlertRule, standing: Standing) -> Move:
    """The rule was switched off, or the instance left its scope: nothing is watched, so nothing stays open."""
    transition = RESOLVED if standing.phase == OPEN else None
    return Move(rule, standing.instance, standing, Stand(), transition, rule.threshold, None)


def _stand(standing: Standing | None) -> Stand:
    if standing is None:
        return Stand()
    return Stand(standing.phase, standing.since, standing.reminded_at, standing.recovering_since)


def _make(move: Move, now: float) -> bool:
    try:
        with transaction.atomic():
            if not _stand_moved(move):
                return False
            if move.transition is None:
                return False
            incident_tell(Told(move.rule, move.instance, move.transition, move.threshold, move.value, now))
            return True
    except IntegrityError:
        # Another evaluator created the standing or opened the incident first.
        return False


def _stand_moved(move: Move) -> bool:
    """Conditional on the version that was read: of two evaluators one gets through."""
    mine = Standing.objects.filter(pk=move.standing.pk, version=move.standing.version) if move.standing else None
    if mine is None:
        Standing.objects.create(rule=move.rule, instance=move.instance, **_columns_of_stand(move.next))
        return True
    if move.next.phase == Phase.OK:
        return bool(mine.delete()[0])
    return bool(mine.update(version=F("version") + 1, **_columns_of_stand(move.next)))


def _columns_of_stand(stand: Stand) -> dict[str, object]:
    return {
        "phase": stand.phase,
        "since": stand.since,
        "reminded_at": stand.reminded_at,
        "recovering_since": stand.recovering_since,
    }
