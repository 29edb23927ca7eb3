"""Django's TextChoices with types: Django has none, so the type checker would take its members for tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from enum import StrEnum

    class TextChoices(StrEnum):
        choices: list[tuple[str, str]]
        labels: list[str]
        values: list[str]

        @property
        def label(self) -> str: ...

else:
    from django.db.models import TextChoices

__all__ = ["TextChoices"]
