"""Limits how many tokens and access keys a viewer may make or alter in a day.

Each leaves rows and audit events that are kept for long, and a viewer may write nothing else. Ending one is never
refused. An operator can write unlimited audit events by other work, so operators have no such limit.
"""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from controlplane.accounts.roles import Role
from controlplane.audit.services import audit_count
from controlplane.core.errors import Busy
from controlplane.core.request_context import caller

MOST_A_DAY = 1000
ACTIONS = ("token.created", "access_key.created", "access_key.updated")


def refuse_too_many_credentials() -> None:
    if caller().role != Role.VIEWER:
        return
    if audit_count(caller(), ACTIONS, timezone.now() - timedelta(days=1), MOST_A_DAY) >= MOST_A_DAY:
        raise Busy(
            f"You have created or changed {MOST_A_DAY} tokens and access keys within a day: wait, or ask an operator.",
            code="too_many_made",
        )
