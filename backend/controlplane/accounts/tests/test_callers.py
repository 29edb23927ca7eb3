"""Every operation of the API, called by every kind of caller.

Without a valid credential the status is 401, with too few rights 403; anybody else gets an answer. `test_access` states
the role that each operation requires. A caller has the lesser of the user's role and the token's scope, and expired
credentials do not count.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from controlplane.accounts.models import Token, User
from controlplane.accounts.roles import Role, covers, lesser
from controlplane.accounts.services import token_create
from controlplane.accounts.tests.test_access import (
    ADMINISTRATION,
    CASES,
    OPEN,
    REPORTERS_ALONE,
    VIEWERS_MAY_POST,
    _address,
)
from controlplane.core.ids import new_id
from controlplane.core.rate_counts import RATE_COUNTS
from controlplane.core.request_context import acting_as

pytestmark = pytest.mark.django_db

SESSION = "/api/v1/auth/session"
READ_BY_ALL = ("api/v1/instance-classes", "api/v1/engine-lines")
# The answer may contain data, so it requires the role that may run trials.
SHOWN_TO_OPERATORS = {"api/v1/instances/<str:pk>/cache/queries/<str:digest>/example"}
CLOSED = [case for case in CASES if case[0] not in OPEN]


def role_wanted(path: str, method: str) -> str:
    if path in ADMINISTRATION:
        return Role.VIEWER if method == "get" and path.startswith(READ_BY_ALL) else Role.ADMIN
    if path in SHOWN_TO_OPERATORS:
        return Role.OPERATOR
    return Role.VIEWER if method == "get" or path in VIEWERS_MAY_POST else Role.OPERATOR


def is_taken(role: str, path: str, method: str) -> bool:
    return path not in REPORTERS_ALONE and covers(role, role_wanted(path, method))


def somebody(role: str, **facts: object) -> User:
    return User.objects.create(username=new_id(role), role=role, **facts)


def with_token(role: str, scope: str, **facts: object) -> APIClient:
    """Returns a client with a token of this scope, of a user with this role.

    The role is set after the token was made, as when a user is demoted, so the scope may exceed it. `facts` are columns
    of the token to change.
    """
    with acting_as("test"):
        user = somebody(Role.ADMIN)
        token, text = token_create(user, name="test", scope=scope)
    Token.objects.filter(pk=token.pk).update(**facts)
    User.objects.filter(pk=user.pk).update(role=role)
    client = APIClient(enforce_csrf_checks=True)
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    client.user = user
    return client


def of_a_disabled_user() -> APIClient:
    client = with_token("admin", "admin")
    User.objects.filter(pk=client.user.pk).update(is_active=False)
    return client


def of_a_deleted_user() -> APIClient:
    client = with_token("admin", "admin")
    client.user.delete()
    return client


def saying(words: str) -> APIClient:
    client = APIClient(enforce_csrf_checks=True)
    client.credentials(HTTP_AUTHORIZATION=words)
    return client


def with_session(role: str, *, has_csrf: bool = True) -> APIClient:
    client = APIClient(enforce_csrf_checks=True)
    client.user = somebody(Role.ADMIN)
    client.force_login(client.user)
    User.objects.filter(pk=client.user.pk).update(role=role)
    if has_csrf:
        client.credentials(HTTP_X_CSRFTOKEN=client.get(SESSION).json()["csrf_token"])
    return client


def with_ended_session() -> APIClient:
    client = with_session("admin")
    client.session.flush()
    return client


def with_expired_session() -> APIClient:
    client = with_session("admin")
    session = client.session
    session.set_expiry(-1)
    session.save()
    return client


def with_session_of_a_disabled_user() -> APIClient:
    client = with_session("admin")
    User.objects.filter(pk=client.user.pk).update(is_active=False)
    return client


NOBODY: dict[str, Callable[[], APIClient]] = {
    "no credentials": APIClient,
    "garbage": lambda: saying("Bearer fqc_aaaaaaaa_" + "x" * 43),
    "an empty token": lambda: saying("Bearer"),
    "two tokens": lambda: saying("Bearer one two"),
    "a name and a password": lambda: saying("Basic YWRtaW46YWRtaW4="),
    "bytes beyond ASCII": lambda: saying("Bearer fqc_ä\x00"),
    "an expired token": lambda: with_token("admin", "admin", expires_at=timezone.now() - timedelta(seconds=1)),
    "a revoked token": lambda: with_token("admin", "admin", revoked_at=timezone.now()),
    "a token of a disabled user": of_a_disabled_user,
    "a token of a deleted user": of_a_deleted_user,
    "a session that ended": with_ended_session,
    "a session that expired": with_expired_session,
    "a session of a disabled user": with_session_of_a_disabled_user,
}


def asked(client: APIClient) -> dict[tuple[str, str], tuple[int, str]]:
    """Calls every operation that needs credentials, and returns status and problem code of each answer, by path and
    method.

    The code is empty unless the answer is a problem.
    """
    found = {}
    for path, method in CLOSED:
        RATE_COUNTS.forget()
        answer = getattr(client, method)(_address(path), {}, format="json")
        is_problem = answer.headers.get("Content-Type", "").startswith("application/problem+json")
        found[path, method] = answer.status_code, answer.json()["code"] if is_problem else ""
    return found


@pytest.mark.parametrize("kind", NOBODY)
def test_nobody_is_told_anything(kind):
    answers = asked(NOBODY[kind]())
    assert {case: told for case, told in answers.items() if told[0] != 401} == {}


def too_much_or_too_little(client: APIClient, role: str) -> dict[tuple[str, str], tuple[int, str]]:
    return {
        case: told
        for case, told in asked(client).items()
        if (told == (403, "denied")) == is_taken(role, *case) or told[0] == 401
    }


@pytest.mark.parametrize("scope", list(Role))
@pytest.mark.parametrize("role", list(Role))
def test_a_token_has_the_lesser_of_its_scope_and_its_users_role(role, scope):
    assert too_much_or_too_little(with_token(role, scope), lesser(role, scope)) == {}


@pytest.mark.parametrize("role", list(Role))
def test_a_session_has_the_role_that_its_user_has_now(role):
    assert too_much_or_too_little(with_session(role), role) == {}


def test_a_session_without_the_csrf_token_changes_nothing():
    answers = asked(with_session("admin", has_csrf=False))
    taken = {case: told for case, told in answers.items() if case[1] != "get" and told[0] != 403}
    assert taken == {}


def test_a_token_needs_no_csrf_token_and_a_session_beside_it_lends_it_nothing():
    client = with_session("admin", has_csrf=False)
    client.credentials(**with_token("admin", "viewer")._credentials)
    assert too_much_or_too_little(client, "viewer") == {}
