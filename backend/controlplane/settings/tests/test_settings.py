import pytest

from controlplane.audit.models import AuditEvent
from controlplane.settings.selectors import settings_get, smtp_password

pytestmark = pytest.mark.django_db
PATH = "/api/v1/settings"


def test_settings_are_changed_with_their_etag_and_on_record(admin):
    read = admin.get(PATH)
    assert admin.patch(PATH, {"is_four_eyes": True}).status_code == 428
    done = admin.patch(PATH, {"is_four_eyes": True}, HTTP_IF_MATCH=read.headers["ETag"])
    assert done.json()["is_four_eyes"] is True
    event = AuditEvent.objects.get(action="settings.updated")
    assert (event.before["is_four_eyes"], event.after["is_four_eyes"]) == (False, True)


def test_the_mail_password_is_sealed_and_never_told(admin):
    done = admin.patch(PATH, {"smtp_password": "m41l-pass"}, HTTP_IF_MATCH="*")
    assert done.json()["has_smtp_password"] is True and "m41l-pass" not in done.content.decode()
    row = settings_get()
    assert smtp_password(row) == "m41l-pass" and "m41l-pass" not in row.smtp_password_sealed
    assert "m41l-pass" not in str(list(AuditEvent.objects.values()))
    assert row.smtp_password_sealed not in str(list(AuditEvent.objects.values()))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("endpoint_networks", ["10.0.0.1/8"]),
        ("endpoint_networks", ["everything"]),
        ("poll_interval_seconds", 1),
        ("smtp_port", 70000),
        ("mail_to", ["nobody"]),
    ],
)
def test_what_cannot_be_is_refused_by_field(admin, field, value):
    answer = admin.patch(PATH, {field: value}, HTTP_IF_MATCH="*")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"].split(".")[0] == field


def test_a_network_that_is_taken_away_closes_its_endpoints_at_once(admin, instance):
    assert admin.get(f"/api/v1/instances/{instance.pk}/parameters").json()["is_live"]
    admin.patch(PATH, {"endpoint_networks": ["10.0.0.0/8"]}, HTTP_IF_MATCH="*")
    findings = admin.get(f"/api/v1/instances/{instance.pk}/prerequisites").json()["findings"]
    assert "endpoint_refused" in {finding["code"] for finding in findings}
    assert not admin.get(f"/api/v1/instances/{instance.pk}/parameters").json()["is_live"]
