"""Moving an approved change set to another time."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from controlplane.audit.services import audit_record
from controlplane.changes.models import ChangeSet
from controlplane.changes.outcome import publish
from controlplane.changes.services import refuse_unless_admin
from controlplane.changes.states import ChangeState, When
from controlplane.core.errors import Conflict
from controlplane.core.etag import row_held


@transaction.atomic
def change_reschedule(change: ChangeSet, at: datetime) -> ChangeSet:
    change = row_held(change)
    if change.state != ChangeState.APPROVED:
        raise Conflict(f"{change.pk} is {change.state}: only an approved one can be moved.", code="wrong_state")
    refuse_unless_admin(change)
    before = {"when": change.when, "not_before": change.not_before}
    change.when, change.at, change.not_before = When.AT, at, at
    change.version += 1
    change.save(update_fields=["when", "at", "not_before", "version"])
    audit_record("change.rescheduled", change, before=before, after={"when": change.when, "not_before": at})
    publish(change)
    return change
