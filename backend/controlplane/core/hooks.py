"""What an app calls of those above it, which it may not import: `settings.HOOKS` names it, here it is found."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string


@cache
def hooks(place: str) -> dict[str, Callable[..., Any]]:
    return {name: import_string(path) for name, path in settings.HOOKS[place].items()}
