"""The trail: with its change or not at all, without secrets, and found again."""

import pytest
from django.db import transaction

from controlplane.accounts.models import User
from controlplane.audit.models import AuditEvent
from controlplane.audit.redaction import REDACTED, redacted
from controlplane.audit.services import audit_record
from controlplane.core.request_context import acting_as
from controlplane.settings.models import Settings
from controlplane.settings.services import settings_update


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"password": "x", "name": "y"}, {"password": REDACTED, "name": "y"}),
        ({"account": {"Smtp_Password": "x"}}, {"account": {"Smtp_Password": REDACTED}}),
        ({"tokens": ["x", "y"]}, {"tokens": REDACTED}),
        ({"servers": [{"client_secret": "x"}]}, {"servers": [{"client_secret": REDACTED}]}),
        ({"password": ""}, {"password": ""}),  # an empty password reveals nothing
        ({"token_prefix": "fqc_abc"}, {"token_prefix": "fqc_abc"}),
        ({"when": None, "count": 3}, {"when": None, "count": 3}),
        (None, None),
    ],
)
def test_what_smells_of_a_secret_is_left_out(value, kept):
    assert redacted(value) == kept


@pytest.mark.django_db(transaction=True)
def test_nothing_is_recorded_outside_a_transaction():
    with pytest.raises(RuntimeError, match="wrap the change and its audit"):
        audit_record("user.updated", User())


@pytest.mark.django_db
def test_a_change_that_is_taken_back_leaves_no_trace():
    row = Settings.objects.create(pk=1)
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        settings_update(row, {"is_four_eyes": True})
        assert AuditEvent.objects.filter(action="settings.updated").exists()
        raise ZeroDivisionError
    assert not AuditEvent.objects.filter(action="settings.updated").exists()
    assert Settings.objects.get().is_four_eyes is False


@pytest.mark.django_db
@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "yesterday"])
def test_a_moment_that_is_none_is_refused_by_its_name(admin, moment):
    for name in ("since", "until"):
        answer = admin.get("/api/v1/audit-events", {name: moment})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, name)


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"action": "user."}, 2),
        ({"action": "user.updated"}, 1),
        ({"actor": "bob"}, 1),
        ({"until": "2000-01-01T00:00:00Z"}, 0),
    ],
)
def test_events_are_found_by_what_they_are_and_who_did_them(viewer, query, count):
    for actor, action in (("alice", "user.created"), ("bob", "user.updated")):
        with acting_as(actor), transaction.atomic():
            audit_record(action, viewer.user, before={"role": "viewer"}, after={"role": "admin"})
    found = viewer.get("/api/v1/audit-events", query).json()["items"]
    assert len(found) == count
    if count == 1:
        assert (found[0]["actor"], found[0]["before"], found[0]["after"]) == (
            "bob",
            {"role": "viewer"},
            {"role": "admin"},
        )
