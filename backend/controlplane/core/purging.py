"""Deletes old rows: oldest first, in batches, each in a short transaction of its own.

Other transactions do not wait for long, and an interrupted purge can simply be started again. `by` must be an indexed
column.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

BATCH = 500


def purge(rows: QuerySet[Any], by: str) -> int:
    return sum(removed(batch) for batch in batches(rows, by))


def batches(rows: QuerySet[Any], by: str) -> Iterator[QuerySet[Any]]:
    """Yields the rows in batches, oldest first by the column `by`.

    The caller must delete a batch before it takes the next one, or the same rows come again.
    """
    while keys := list(rows.order_by(by).values_list("pk", flat=True)[:BATCH]):
        yield rows.filter(pk__in=keys)  # with the conditions again, since a row may have been used in the meantime


def removed(rows: QuerySet[Any]) -> int:
    """Deletes rows and returns their number, without rows deleted by cascade."""
    return rows.delete()[1].get(rows.model._meta.label, 0)
