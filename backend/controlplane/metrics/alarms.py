"""The state of samples that alert rules may watch."""

from __future__ import annotations

from datetime import UTC, datetime

from django.db.models import F

from controlplane.core import clock
from controlplane.core.turns import moment_of
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import ANSWERING
from controlplane.fleet.states import State
from controlplane.metrics.polling import ROUND_ENDED
from controlplane.settings.selectors import settings_get

SILENT_AFTER_SECONDS, SILENT_ROUNDS = 120, 3  # without a sample for the longer of the two, an instance is silent


def silence_seconds() -> int:
    return max(SILENT_AFTER_SECONDS, SILENT_ROUNDS * settings_get().poll_interval_seconds)


def samples_missing() -> dict[str, tuple[float | None, str]]:
    """Returns, by instance id, 1.0 and an explanation for instances that should answer polls and have no recent sample,
    one by one or because no round of polls ends; None instead of 1.0 during a change.
    """
    now = clock.shared_time()
    since = now - silence_seconds()
    asked = Instance.objects.filter(state__in=ANSWERING, created_at__lt=datetime.fromtimestamp(since, UTC))
    silent = asked.exclude(latest__at__gte=since).annotate(sampled_at=F("latest__at"))
    found = list(silent.values_list("pk", "state", "sampled_at"))
    why = _no_round(since) if found else ""
    return {
        pk: (1.0, why or _newest(at)) if state == State.RUNNING else (None, "")  # a change may restart the server
        for pk, state, at in found
    }


def _no_round(since: float) -> str:
    ended = moment_of(ROUND_ENDED)
    if ended is not None and ended >= since:
        return ""
    return f"no round of polls has completed {_since(ended)}: see the workers' log"


def _newest(at: float | None) -> str:
    return f"no sample could be taken {_since(at)}"


def _since(at: float | None) -> str:
    return "yet" if at is None else f"since {datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
