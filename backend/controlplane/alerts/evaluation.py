"""Evaluates every enabled rule on every instance it covers, once.

Values are computed from the most recent samples, in one query for all rules. The time that a condition holds grows by
the time that new samples cover, at most one polling interval each: a jump of the clock adds nothing, nor does an
evaluation without a new sample. For a state, each evaluation is a sample; a state whose beginning is stored has lasted
since then, however many evaluations there were. Changes are written in batches of many (rule,
instance) pairs with a fixed number of statements, in one transaction with the incidents, their timelines, audit events
and mails. A standing that another evaluator changed in the meantime is left to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass

from django.db import IntegrityError, connection, transaction
from django.db.models import Prefetch

from controlplane.alerts.incidents import IncidentTransition, transitions_apply
from controlplane.alerts.judging import Sums, columns_of, condition_of, judged
from controlplane.alerts.models import AlertRule, Incident, RuleOverride, Standing
from controlplane.alerts.phases import OPEN, RESOLVED, RuleState, step
from controlplane.alerts.readings import StateReading, state_reading
from controlplane.alerts.selectors import rule_instances, rule_list
from controlplane.alerts.states import STATES, VALUE
from controlplane.alerts.vocabulary import Phase, Scope
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import instance_list
from controlplane.metrics.definitions import aggregate_of
from controlplane.metrics.models import Sample
from controlplane.settings.selectors import settings_get

WINDOW_SECONDS = 60
LOOK_SECONDS = 5  # an observed state is assumed to last until the next evaluation
BATCH = 500


@dataclass(frozen=True)
class RecentFacts:
    """The facts that a rule is evaluated with on one instance: sums of the instance's recent samples, or, for a rule on
    a state, the state as it was read now.
    """

    sums: Sums
    newest_at: int = 0
    count: int = 0
    detail: str = ""  # what was observed, for a state
    lasted: float | None = None  # for how many seconds the state has lasted; None if its beginning is not stored

    def seen_seconds(self, judged_at: int, interval: int) -> float:
        """Returns the seconds covered by samples after the one at `judged_at`, which was judged last and may lie ahead
        if the clock was set back.

        `interval` is the time that one sample covers.
        """
        if self.newest_at <= judged_at - WINDOW_SECONDS:
            return min(self.count, 1) * interval
        return max(0, min(self.newest_at - judged_at, self.count * interval))


NOTHING = RecentFacts({})
States = Mapping[str, StateReading]


@dataclass(frozen=True)
class EvaluationResult:
    """The result of an evaluation for one rule and instance: the phase that follows, and the transition to report
    (None: nothing to report).
    """

    rule: AlertRule
    instance: Instance
    standing: Standing | None
    next: RuleState
    sampled_at: int
    transition: str | None
    threshold: float
    value: float | None
    why: str = ""
    detail: str = ""

    @property
    def is_waiting(self) -> bool:
        """True if only the time that the condition holds has changed, so that nothing is reported."""
        return self.standing is not None and self.transition is None and self.next.phase != Phase.OK


def evaluate(now: float) -> int:
    """Evaluates all rules on all instances that they cover, and reports the transitions of incidents.

    `now` is in epoch seconds. Returns the number of transitions.
    """
    rules = list(rule_list().prefetch_related(Prefetch("standings", Standing.objects.select_related("instance"))))
    interval = settings_get().poll_interval_seconds
    recent = _recent(_columns(rule for rule in rules if rule.is_enabled), now, interval)
    watched = {rule.metric for rule in rules if rule.is_enabled} & STATES.keys()
    states = {name: state_reading(name, now) for name in watched}
    instances = _instances()
    seen = {rule.pk: _seen(rule, instances, recent, states, now) for rule in rules}
    moves = [
        move
        for rule in rules
        for move in _moves(rule, instances, seen[rule.pk], LOOK_SECONDS if rule.metric in STATES else interval)
    ]
    _wait_on([move for move in moves if move.is_waiting])
    telling = [move for move in moves if not move.is_waiting]
    return sum(_make(telling[first : first + BATCH], now) for first in range(0, len(telling), BATCH))


def _columns(rules: Iterable[AlertRule]) -> list[str]:
    return sorted({column for rule in rules if rule.metric not in STATES for column in columns_of(rule.metric)})


def _recent(columns: list[str], now: float, interval: int) -> dict[str, RecentFacts]:
    """Returns, by instance id, the sums of these columns over a period that is long enough for two samples at any
    polling interval.
    """
    if not columns:
        return {}
    since = int(now) - max(WINDOW_SECONDS, 2 * interval + 5)
    aggregates = ", ".join(f"{aggregate_of(column)}({column})" for column in columns)
    with connection.cursor() as cursor:
        # Column names come from the definitions, never from input.
        cursor.execute(
            f"SELECT instance_id, MAX(at), COUNT(*), {aggregates} FROM {Sample._meta.db_table}"  # noqa: S608
            " WHERE at > %s AND at <= %s GROUP BY instance_id",
            [since, int(now)],
        )
        return {
            pk: RecentFacts(dict(zip(columns, map(_number, cells), strict=True)), newest_at, count)
            for pk, newest_at, count, *cells in cursor.fetchall()
        }


def _number(cell: object) -> float | None:
    return None if cell is None else float(cell)  # type: ignore[arg-type]


def _instances() -> dict[str, Instance]:
    """Returns all instances by id, with the columns that reports need, read once for all rules."""
    return {each.pk: each for each in instance_list().select_related(None).only("name", "tags")}


def _seen(
    rule: AlertRule, instances: Iterable[str], recent: Mapping[str, RecentFacts], states: States, now: float
) -> Mapping[str, RecentFacts]:
    """Returns by instance id what the rule is judged by: the recent samples, or for a rule on a state the current
    state, which counts as one sample.
    """
    if rule.metric not in states:
        return recent
    state = states[rule.metric]
    readings = {pk: state.of(pk) for pk in instances}
    return {
        pk: RecentFacts({VALUE: value}, int(now), 1, detail, state.seconds.get(pk))
        for pk, (value, detail) in readings.items()
    }


def _covered(rule: AlertRule, instances: Mapping[str, Instance]) -> Iterable[Instance]:
    if not rule.is_enabled:
        return []
    if rule.scope == Scope.ALL:
        return instances.values()
    pks = rule_instances(rule).values_list("pk", flat=True)
    return [instances[pk] for pk in pks if pk in instances]  # an instance may have been added since they were read


def _moves(
    rule: AlertRule, instances: Mapping[str, Instance], recent: Mapping[str, RecentFacts], interval: int
) -> Iterable[EvaluationResult]:
    standings = {standing.instance_id: standing for standing in rule.standings.all()}
    overrides: dict[str, RuleOverride] = {override.instance_id: override for override in rule.overrides.all()}
    for instance in _covered(rule, instances):
        override = overrides.get(instance.pk)
        if override and override.is_exempt:
            continue
        standing = standings.pop(instance.pk, None)
        found = recent.get(instance.pk, NOTHING)
        move = _move(rule, instance, standing, override and override.threshold, found, interval)
        if move:
            yield move
    for standing in standings.values():
        yield _uncovered(rule, standing)


def _move(
    rule: AlertRule,
    instance: Instance,
    standing: Standing | None,
    threshold: float | None,
    recent: RecentFacts,
    interval: int,
) -> EvaluationResult | None:
    condition = condition_of(rule, threshold)
    value, broken = judged(condition, rule.metric, recent.sums)
    stand, seen = _stand(standing), recent.seen_seconds(standing.sampled_at, interval) if standing else 0.0
    following, transition = step(stand, condition, broken, seen, recent.lasted)
    if following == stand and transition is None:  # a standing after a reminder equals one that was just opened
        return None
    return EvaluationResult(
        rule,
        instance,
        standing,
        following,
        recent.newest_at,
        transition,
        condition.threshold,
        value,
        detail=recent.detail,
    )


def _uncovered(rule: AlertRule, standing: Standing) -> EvaluationResult:
    """Returns the evaluation result for an instance that a rule no longer covers, because the rule was switched off or
    the instance left its scope: nothing is pending any more, and an open incident is resolved.
    """
    transition = RESOLVED if standing.phase == OPEN else None
    why = "the rule no longer covers it" if rule.is_enabled else "the rule was switched off"
    return EvaluationResult(rule, standing.instance, standing, RuleState(), 0, transition, rule.threshold, None, why)


def _stand(standing: Standing | None) -> RuleState:
    if standing is None:
        return RuleState()
    return RuleState(standing.phase, standing.broken_seconds, standing.good_seconds)


@transaction.atomic
def _wait_on(moves: Collection[EvaluationResult]) -> None:
    """Stores how long the condition has held, for evaluation results that change nothing else (`is_waiting`).

    All are stored in one batch, since there may be thousands.
    """
    if not moves:
        return
    _stands_set(moves)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE {Incident._meta.db_table} SET last_value = %s"  # noqa: S608
            " WHERE rule_id = %s AND instance_id = %s AND resolved_at IS NULL",
            [
                (move.value, move.rule.pk, move.instance.pk)
                for move in moves
                if move.next.phase == Phase.OPEN and move.value is not None
            ],
        )


def _make(moves: list[EvaluationResult], now: float) -> int:
    try:
        with transaction.atomic():
            told = [
                IncidentTransition(
                    move.rule, move.instance, move.transition, move.threshold, move.value, now, move.why, move.detail
                )
                for move in _stands_moved(moves)
                if move.transition
            ]
            transitions_apply(told)
            return len(told)
    except IntegrityError:
        # Another evaluator created one of the standings or opened one of the incidents first. Halving the batch
        # isolates that one, so that the others are reported.
        half = len(moves) // 2
        return _make(moves[:half], now) + _make(moves[half:], now) if half else 0


def _stands_moved(moves: list[EvaluationResult]) -> list[EvaluationResult]:
    """Stores the phases of these evaluation results, and returns those that were stored.

    Results whose row was changed by another evaluator since it was read are left out: of two evaluators only one
    reports a transition.
    """
    read = {move.standing.pk: move.standing.version for move in moves if move.standing}
    held = Standing.objects.select_for_update().filter(pk__in=read).order_by("pk")
    mine = {pk for pk, version in held.values_list("pk", "version") if version == read[pk]} if read else set()
    new = [move for move in moves if move.standing is None]
    known = [move for move in moves if move.standing and move.standing.pk in mine]
    Standing.objects.bulk_create(Standing(rule=move.rule, instance=move.instance, **_facts(move)) for move in new)
    over = [move.standing.pk for move in known if move.standing and move.next.phase == Phase.OK]
    if over:
        Standing.objects.filter(pk__in=over).delete()
    _stands_set([move for move in known if move.next.phase != Phase.OK])
    return [*new, *known]


def _stands_set(moves: Collection[EvaluationResult]) -> None:
    """Stores these evaluation results in the rows that hold each rule's phase on each instance. A row whose version is
    no longer the one that was read stays as it is.
    """
    if not moves:
        return
    names = [*_facts(next(iter(moves)))]
    with connection.cursor() as cursor:
        cursor.executemany(
            f"UPDATE {Standing._meta.db_table} SET version = version + 1, {' = %s, '.join(names)} = %s"  # noqa: S608
            " WHERE id = %s AND version = %s",
            [(*_facts(move).values(), move.standing.pk, move.standing.version) for move in moves if move.standing],
        )


def _facts(move: EvaluationResult) -> dict[str, object]:
    return {**asdict(move.next), "sampled_at": move.sampled_at}
