"""All columns with encrypted secrets: what a key rotation must encrypt again, and which sealing keys the rows need."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from django.db import models

from controlplane.accounts.models import AccessKey, SignIn
from controlplane.core.hooks import Hook
from controlplane.core.models import KeptAnswer
from controlplane.fleet.models import Instance
from controlplane.settings.models import Settings
from controlplane.settings.selectors import SMTP_CONTEXT

# Model, column, and the context that a row's secret is sealed with.
Column = tuple[type[models.Model], str, Callable[[Any], str]]
COLUMNS: list[Column] = [
    (Instance, "password_sealed", attrgetter("secret_context")),
    (Instance, "trial_password_sealed", attrgetter("trial_secret_context")),
    (AccessKey, "secret_sealed", attrgetter("secret_context")),
    (SignIn, "refresh_sealed", attrgetter("secret_context")),
    (KeptAnswer, "answer_sealed", attrgetter("secret_context")),
    (Settings, "smtp_password_sealed", lambda _: SMTP_CONTEXT),
]
# Models with a secret in `secret_sealed`, of apps that build on this one.
SEALED_ABOVE: Hook[type[models.Model]] = Hook("fleet.sealed.SEALED_ABOVE")


def columns() -> list[Column]:
    """Returns model, column and encryption context of every column with encrypted secrets, including those of apps that
    build on this one, which this app must not import.
    """
    above = SEALED_ABOVE.parts.values()
    return [*COLUMNS, *((model, "secret_sealed", attrgetter("secret_context")) for model in above)]


def keys_needed() -> set[str]:
    """Returns the names of the sealing keys that decrypting the stored secrets takes."""
    names: set[str] = set()
    for model, column, _ in columns():
        texts = model._default_manager.exclude(**{column: ""}).values_list(column, flat=True)
        names |= {text.split(".")[1] for text in texts.iterator()}
    return names
