"""Django's sessions in the database, each with a reference to its user."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore as DatabaseStore
from django.contrib.sessions.base_session import AbstractBaseSession


class SessionStore(DatabaseStore):
    @classmethod
    def get_model_class(cls) -> type[AbstractBaseSession]:
        return apps.get_model("accounts", "Session")  # by name, since the model's module imports this class

    def create_model_instance(self, data: dict[str, Any]) -> AbstractBaseSession:
        row: Any = super().create_model_instance(data)
        row.user_id = data.get(SESSION_KEY)
        return row
