"""Removes what has had its time: oldest first, in batches, each in a transaction of its own that is over at once.

Nobody waits for long behind a purge, and one that is ended in the middle goes on where it was. `by` has an index.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.db.models import QuerySet

BATCH = 500


def purge(rows: QuerySet[Any], by: str) -> int:
    return sum(removed(batch) for batch in batches(rows, by))


def batches(rows: QuerySet[Any], by: str) -> Iterator[QuerySet[Any]]:
    """Whoever asks for the next one has removed the one before."""
    while keys := list(rows.order_by(by).values_list("pk", flat=True)[:BATCH]):
        yield rows.filter(pk__in=keys)  # again with its conditions: a row may have been used meanwhile


def removed(rows: QuerySet[Any]) -> int:
    """How many, without what went with them."""
    return rows.delete()[1].get(rows.model._meta.label, 0)
