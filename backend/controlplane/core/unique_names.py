"""A name that is taken is told as such, also when two ask for it at the same moment: the constraint decides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from controlplane.core.errors import NameTaken


@contextmanager
def name_claimed(others: QuerySet[Any], kind: str, name: str, *, field: str = "name") -> Iterator[None]:
    """Around the write of a row; `others`: those that must not have the name."""
    having = others.filter(**{field: name})
    if having.exists():
        raise NameTaken(kind, name, field=field)
    try:
        with transaction.atomic():
            yield
    except IntegrityError as error:
        if having.exists():
            raise NameTaken(kind, name, field=field) from error
        raise
