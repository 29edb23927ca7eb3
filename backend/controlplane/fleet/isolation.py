"""Isolates work on many instances, so that one failure does not affect the others.

Servers may answer anything: connecting to one, parsing its answers and storing them must not disturb the others. Every
duty, that is, every kind of periodic work that goes through many instances, works on each of them in here. A failure is
logged and stored on the instance (`LookFault`) until the same duty succeeds there. If the database is down, that is no
instance's fault, and ends the round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TypeVar

import structlog
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from controlplane.fleet.models import DETAIL_LENGTH, Instance, LookFault
from controlplane.fleet.states import Duty
from controlplane.gateway.errors import AnswerTooLong, GatewayError, NotAServer, NotUsable

DATABASE_AWAY = (OperationalError, InterfaceError)
NOT_UNDERSTOOD = (AnswerTooLong, NotAServer, NotUsable)  # other errors of a server are expected

log = structlog.get_logger(__name__)
T = TypeVar("T")


class DutyRound:
    """One round of a duty (a kind of periodic work, such as polling) over many instances.

    It collects which instances succeeded and which failed; `note` stores that at the end.
    """

    def __init__(self, duty: Duty) -> None:
        self.duty = duty
        self._done: set[str] = set()
        self._failed: dict[str, str] = {}

    @contextmanager
    def on(self, instance_id: str) -> Iterator[None]:
        """Wraps the work on one instance.

        An exception ends the block and is recorded as this instance's failure, not raised, unless the control plane's
        own database is down.
        """
        try:
            yield
        except GatewayError as error:
            self.fail(instance_id, error)
        except DATABASE_AWAY:
            raise
        except Exception as error:
            log.exception("instance_failed", duty=self.duty.value, instance=instance_id)
            self._failed[instance_id] = f"{type(error).__name__}; see the log."
        else:
            self._done.add(instance_id)

    def fail(self, instance_id: str, error: GatewayError) -> None:
        log.warning(f"{self.duty.value}_failed", instance=instance_id, code=error.code, detail=error.detail)
        if isinstance(error, NOT_UNDERSTOOD):
            self._failed[instance_id] = error.detail[:DETAIL_LENGTH]

    def together(self, found: Mapping[str, T], write: Callable[[Mapping[str, T]], None]) -> None:
        """Calls `write` with the findings of all instances, by id, in one transaction.

        If that fails, calls it for each instance alone, so that only the instances whose findings cannot be written
        fail.
        """
        try:
            with transaction.atomic():
                write(found)
        except DATABASE_AWAY:
            raise
        except Exception:
            log.warning("round_not_written_at_once", duty=self.duty.value)
            for instance_id, each in found.items():
                with self.on(instance_id), transaction.atomic():
                    write({instance_id: each})
        else:
            self._done |= found.keys()

    def note(self) -> None:
        """Stores the failures of this round as LookFaults if they are new or changed, and deletes those of instances
        that succeeded.

        To be called once, at the end of the round.
        """
        noted = {fault.instance_id: fault for fault in LookFault.objects.filter(duty=self.duty)}
        over = [fault.pk for pk, fault in noted.items() if pk in self._done and pk not in self._failed]
        if over:
            LookFault.objects.filter(pk__in=over).delete()
        now = timezone.now()
        due = {pk: text for pk, text in self._failed.items() if pk not in noted or noted[pk].is_to_be_noted(text, now)}
        if due:
            _keep(LookFault(instance_id=pk, duty=self.duty, detail=text, at=now) for pk, text in due.items())


def _keep(faults: Iterator[LookFault]) -> None:
    """Stores these failures, each in place of an earlier one of the same instance and duty. Failures of instances that
    were deleted during the round are left out.
    """
    wanted = list(faults)
    there = set(Instance.objects.filter(pk__in=[each.instance_id for each in wanted]).values_list("pk", flat=True))
    LookFault.objects.bulk_create(
        [each for each in wanted if each.instance_id in there],
        update_conflicts=True,
        unique_fields=["instance", "duty"],
        update_fields=["detail", "at"],
    )


@contextmanager
def isolated(duty: Duty) -> Iterator[DutyRound]:
    work = DutyRound(duty)
    yield work
    work.note()
