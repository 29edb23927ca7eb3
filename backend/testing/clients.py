"""HTTP clients for each kind of caller: outsider, viewer, operator, admin, reporter. They use tokens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from rest_framework.test import APIClient

from controlplane.core.ids import new_id

PASSWORD = "correct horse battery"


def client_as(role: str, scope: str = "", instance_id: str = "") -> APIClient:
    """Returns a client with the token of a new user of this role, who has no password.

    `scope`: the token's scope, if it differs from the role. `instance_id`: the only instance that the token is for, if
    any.
    """
    from controlplane.accounts.models import User
    from controlplane.accounts.services import token_create
    from controlplane.core.request_context import acting_as

    with acting_as("test"):
        user = User.objects.create(username=new_id(role), role=role)  # without a password, since hashing one is slow
        _, text = token_create(user, name="test", scope=scope or role, instance_id=instance_id)
    client = APIClient()
    client.user = user
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    return client


def reporter_of(instance_id: str) -> APIClient:
    return client_as("operator", "reporter", instance_id)


@pytest.fixture(autouse=True)
def _no_caller_is_left() -> Iterator[None]:
    """Ensures that a caller that a test sets outside of a request does not remain for the next test."""
    from controlplane.core.request_context import NOBODY, called_by

    with called_by(NOBODY):
        yield


@pytest.fixture
def outsider(db: None) -> APIClient:
    return APIClient()


@pytest.fixture
def viewer(db: None) -> APIClient:
    return client_as("viewer")


@pytest.fixture
def operator(db: None) -> APIClient:
    return client_as("operator")


@pytest.fixture
def admin(db: None) -> APIClient:
    return client_as("admin")


@pytest.fixture(autouse=True)
def _forget_request_counts() -> None:
    from controlplane.core.rate_counts import RATE_COUNTS

    RATE_COUNTS.forget()
