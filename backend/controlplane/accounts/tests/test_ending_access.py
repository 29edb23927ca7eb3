"""A password reset and disabling a user end the user's sessions and credentials, and the answer has their numbers."""

import pytest
from rest_framework.test import APIClient

from controlplane.accounts.access_key_services import access_key_create
from controlplane.accounts.models import AccessKey, Session, Token
from controlplane.accounts.services import token_create, user_create
from controlplane.audit.models import AuditEvent
from controlplane.core.request_context import acting_as
from testing.clients import PASSWORD

pytestmark = pytest.mark.django_db
SESSION = "/api/v1/auth/session"
RESET = {"password": "seven green bicycles"}
ALL = {"sessions": 2, "tokens": 1, "access_keys": 1}
NONE = {"sessions": 0, "tokens": 0, "access_keys": 0}


class Person:
    def __init__(self, username):
        with acting_as("test"):
            self.user = user_create(username=username, password=PASSWORD, role="operator")
            _, text = token_create(self.user, name="ci", scope="viewer")
            access_key_create(self.user, name="rpc", scope="viewer", held="viewer")
        self.ways_in = [self._logged_in(), self._logged_in(), APIClient()]
        self.ways_in[2].credentials(HTTP_AUTHORIZATION=f"Bearer {text}")

    def _logged_in(self):
        client = APIClient()
        assert client.post(SESSION, {"username": self.user.username, "password": PASSWORD}).status_code == 200
        return client

    def may_read(self):
        return [way.get("/api/v1/instances").status_code == 200 for way in self.ways_in]


@pytest.fixture
def alice():
    return Person("alice")


def patch(admin, person, body):
    answer = admin.patch(f"/api/v1/users/{person.user.pk}", body, HTTP_IF_MATCH="*")
    assert answer.status_code == 200, answer.json()
    return answer.json()


@pytest.mark.parametrize("body", [RESET, {"is_active": False}])
def test_all_ends_with_the_password_and_with_the_user_and_of_no_one_else(admin, alice, body):
    bob = Person("bob")
    assert alice.may_read() == [True] * 3
    assert patch(admin, alice, body)["ended"] == ALL
    if "is_active" in body:
        assert patch(admin, alice, {"is_active": True})["ended"] == NONE
    assert alice.may_read() == [False] * 3
    assert bob.may_read() == [True] * 3
    assert AccessKey.objects.get().user == bob.user
    after = AuditEvent.objects.filter(action="user.updated").earliest("created_at").after
    assert {name: after[f"ended_{name}"] for name in ALL} == ALL


def test_tokens_and_access_keys_are_kept_by_choice(admin, alice):
    assert patch(admin, alice, {**RESET, "keep_tokens": True})["ended"] == {**ALL, "tokens": 0, "access_keys": 0}
    assert alice.may_read() == [False, False, True]
    assert AccessKey.objects.count() == 1


@pytest.mark.parametrize("body", [{"email": "a@example.com"}, {"role": "viewer"}, {"is_active": True}])
def test_nothing_ends_with_another_change(admin, alice, body):
    assert patch(admin, alice, body)["ended"] == NONE
    assert alice.may_read() == [True] * 3


def test_an_admin_changes_his_own_password_where_the_present_one_is_asked_for(admin):
    answer = admin.patch(f"/api/v1/users/{admin.user.pk}", RESET, HTTP_IF_MATCH="*")
    assert (answer.status_code, answer.json()["code"]) == (409, "own_password")


def test_a_refused_change_ends_nothing(admin, alice):
    answer = admin.patch(f"/api/v1/users/{alice.user.pk}", {"password": "short"}, HTTP_IF_MATCH="*")
    assert answer.status_code == 400
    assert alice.may_read() == [True] * 3


def test_sessions_and_tokens_go_with_a_deleted_user(admin, alice):
    assert admin.delete(f"/api/v1/users/{alice.user.pk}", HTTP_IF_MATCH="*").status_code == 204
    assert not Session.objects.exists()
    assert not Token.objects.filter(name="ci").exists()
