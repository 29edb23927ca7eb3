"""A client of the API that calls Django's HTTP stack directly, without a network."""

from __future__ import annotations

from functools import cache

from rest_framework.test import APIClient

from controlplane.accounts.services import token_create, user_create
from controlplane.core.request_context import acting_as


@cache
def client_as(role: str) -> APIClient:
    with acting_as("bench"):
        user = user_create(username=f"bench-{role}", password="correct horse battery", role=role)  # noqa: S106
        _, token = token_create(user, name="bench", scope=role)
    client = APIClient(SERVER_NAME="127.0.0.1")
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    return client
