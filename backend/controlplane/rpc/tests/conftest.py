from __future__ import annotations

from collections.abc import Callable

import pytest

from controlplane.accounts.access_key_services import access_key_create
from controlplane.accounts.models import User
from controlplane.core.ids import new_id
from controlplane.core.request_context import acting_as
from controlplane.rpc.tests.signing import Signer


@pytest.fixture
def signer(db: None) -> Callable[..., Signer]:
    """Returns a function that makes a user with this role and an access key with this scope (empty: the role), and
    returns a client that signs with the key.
    """

    def make(role: str = "operator", scope: str = "") -> Signer:
        with acting_as("test"):
            user = User.objects.create(username=new_id(role), role=role)
            key, secret = access_key_create(user, name="test", scope=scope or role, held=role)
        return Signer((key.pk, secret))

    return make


@pytest.fixture
def rpc(signer: Callable[..., Signer]) -> Signer:
    return signer()
