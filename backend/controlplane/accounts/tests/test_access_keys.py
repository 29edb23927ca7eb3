from datetime import timedelta

import pytest
from django.core.management import call_command
from django.utils import timezone

from controlplane.accounts import making
from controlplane.accounts.models import AccessKey, User
from controlplane.audit.models import AuditEvent
from testing.clients import client_as

pytestmark = pytest.mark.django_db
KEYS = "/api/v1/access-keys"


def made(client, scope="viewer", name="ci"):
    answer = client.post(KEYS, {"name": name, "scope": scope})
    assert answer.status_code == 201, answer.json()
    return answer.json()


def test_the_secret_is_shown_once_and_kept_sealed(operator):
    key = made(operator)
    row = AccessKey.objects.get(pk=key["id"])
    assert row.secret == key["secret"]
    assert key["secret"] not in str(vars(row))
    assert operator.get(f"{KEYS}/{key['id']}").json() == operator.get(KEYS).json()["items"][0]
    assert "secret" not in operator.get(f"{KEYS}/{key['id']}").json()


def test_a_key_is_never_stronger_than_who_makes_it(operator):
    answer = operator.post(KEYS, {"name": "up", "scope": "admin"})
    assert (answer.status_code, answer.json()["code"]) == (403, "denied")


def test_a_weak_token_cannot_enable_a_strong_key(operator, viewer):
    key = made(operator, "operator")
    operator.patch(f"{KEYS}/{key['id']}", {"is_active": False})
    text = operator.post("/api/v1/tokens", {"name": "reader", "scope": "viewer"}).json()["token"]
    operator.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    assert operator.patch(f"{KEYS}/{key['id']}", {"is_active": True}).status_code == 403
    assert not AccessKey.objects.get().is_active


def test_renamed_disabled_enabled_and_deleted_with_its_trace(operator):
    path = f"{KEYS}/{made(operator)['id']}"
    assert operator.patch(path, {"name": "nightly"}).json()["name"] == "nightly"
    assert operator.patch(path, {"is_active": False}).json()["is_active"] is False
    assert operator.patch(path, {"is_active": True}).json()["is_active"] is True
    assert operator.delete(path).status_code == 204
    assert operator.get(path).status_code == 404
    trace = AuditEvent.objects.filter(target_type="accesskey").order_by("created_at", "id")
    assert sorted(event.action for event in trace) == [
        "access_key.created", "access_key.deleted", *["access_key.updated"] * 3,
    ]  # fmt: skip
    assert {event.actor for event in trace} == {operator.user.username}


def test_a_viewer_makes_and_alters_only_so_many_tokens_and_keys_in_a_day(viewer, operator, monkeypatch):
    monkeypatch.setattr(making, "MOST_A_DAY", 4)
    token = {"name": "ci", "scope": "viewer"}
    key = made(viewer)
    path = f"{KEYS}/{key['id']}"
    other = viewer.post("/api/v1/tokens", token)
    assert viewer.patch(path, {"name": "nightly"}).status_code == 200
    made(viewer)
    for answer in (viewer.post("/api/v1/tokens", token), viewer.post(KEYS, token), viewer.patch(path, {"name": "x"})):
        assert (answer.status_code, answer.json()["code"], "Retry-After" in answer.headers) == (
            429,
            "too_many_made",
            True,
        )
    assert viewer.patch(path, {"is_active": False}).status_code == 200
    assert viewer.patch(path, {"is_active": False}).status_code == 429
    assert viewer.delete(path).status_code == viewer.delete(f"/api/v1/tokens/{other.json()['id']}").status_code == 204
    for _ in range(6):
        made(operator)
    AuditEvent.objects.update(created_at=timezone.now() - timedelta(days=1, seconds=1))
    assert viewer.post("/api/v1/tokens", token).status_code == 201


def test_the_audit_trail_has_no_secret(operator):
    key = made(operator)
    assert key["secret"] not in str(list(AuditEvent.objects.values()))


def test_others_keys_are_an_admins_business_alone(operator, admin):
    path = f"{KEYS}/{made(operator)['id']}"
    stranger = client_as("operator")
    assert stranger.get(KEYS).json()["items"] == []
    assert {stranger.get(path).status_code, stranger.patch(path, {}).status_code} == {404}
    assert stranger.delete(path).status_code == 404
    assert admin.get(KEYS).json()["items"][0]["username"] == operator.user.username
    assert admin.patch(path, {"is_active": False}).status_code == 200
    assert admin.delete(path).status_code == 204


def test_a_key_goes_with_its_owner(operator):
    made(operator)
    User.objects.filter(pk=operator.user.pk).delete()
    assert not AccessKey.objects.exists()


def test_the_list_costs_the_same_however_long(operator, django_assert_num_queries):
    for number in range(5):
        made(operator, name=f"key {number}")
    operator.get(KEYS)
    with django_assert_num_queries(2):
        assert len(operator.get(KEYS).json()["items"]) == 5


def test_rotating_the_sealing_key_keeps_the_secrets(operator, settings):
    key = made(operator)
    settings.SEALING_KEYS = ["a-newer-sealing-key", *settings.SEALING_KEYS]
    call_command("rotate_sealing_key")
    settings.SEALING_KEYS = settings.SEALING_KEYS[:1]
    assert AccessKey.objects.get(pk=key["id"]).secret == key["secret"]
