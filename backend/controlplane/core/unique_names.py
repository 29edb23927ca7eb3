"""Reports a name that is taken as such, also if two requests use it at the same moment: the constraint decides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from controlplane.core.errors import NameTaken


@contextmanager
def name_claimed(others: QuerySet[Any], kind: str, name: str, *, field: str = "name") -> Iterator[None]:
    """Wraps the write of a row with this name.

    Raises NameTaken if a row in `others` has it, also if another request writes it at the same moment. `kind` names the
    rows in the message, such as "an instance".
    """
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
