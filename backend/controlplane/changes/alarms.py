"""The state of changes that alert rules may watch."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Exists, OuterRef
from django.utils import timezone

from controlplane.changes.models import ChangeSet
from controlplane.changes.states import ChangeState

LASTS = timedelta(hours=24)
MOST_SEEN = 300  # characters
WENT_WRONG = (ChangeState.FAILED, ChangeState.ROLLED_BACK)


def change_failed() -> dict[str, tuple[float | None, str]]:
    """Returns, by instance id, 1.0 and the failure for instances with a change that failed or was rolled back within a
    day.

    A change that was applied afterwards clears this; aborted changes do not count.
    """
    later = ChangeSet.objects.filter(
        instance=OuterRef("instance"), state=ChangeState.APPLIED, finished_at__gt=OuterRef("finished_at")
    )
    failed = ChangeSet.objects.filter(
        ~Exists(later), state__in=WENT_WRONG, finished_at__gt=timezone.now() - LASTS, instance__isnull=False
    )
    return {
        change.instance_id: (1.0, f"{change.pk}: {change.outcome_detail}"[:MOST_SEEN])
        for change in failed.exclude(outcome_code="aborted").order_by("finished_at")
        if change.instance_id
    }
