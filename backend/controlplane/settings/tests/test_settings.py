import socket

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


def mail_set_up(admin, **facts):
    mail = {"smtp_host": "127.0.0.1", "smtp_port": 465, "smtp_security": "tls", "smtp_username": "fqc"}
    body = {**mail, "smtp_password": "m41l-pass", **facts}
    assert admin.patch(PATH, body, HTTP_IF_MATCH="*").status_code == 200


@pytest.mark.parametrize(
    ("field", "value"), [("smtp_host", "127.0.0.2"), ("smtp_port", 2525), ("smtp_security", "none")]
)
def test_the_mail_password_goes_nowhere_else_unless_it_is_given_again(admin, field, value):
    mail_set_up(admin)
    refused = admin.patch(PATH, {field: value, "is_four_eyes": True}, HTTP_IF_MATCH="*")
    assert (refused.status_code, refused.json()["code"]) == (400, "password_required")
    [error] = refused.json()["errors"]
    assert (error["field"], error["code"]) == ("smtp_password", "password_required") and field in error["detail"]
    assert not settings_get().is_four_eyes
    assert admin.patch(PATH, {field: value, "smtp_password": "again"}, HTTP_IF_MATCH="*").status_code == 200
    assert smtp_password(settings_get()) == "again"


def test_mail_is_switched_off_without_its_password_and_back_on_with_it(admin):
    mail_set_up(admin)
    assert admin.patch(PATH, {"smtp_host": ""}, HTTP_IF_MATCH="*").status_code == 200
    assert admin.patch(PATH, {"smtp_host": "127.0.0.2"}, HTTP_IF_MATCH="*").status_code == 400
    assert admin.patch(PATH, {"smtp_host": "127.0.0.2", "smtp_password": ""}, HTTP_IF_MATCH="*").status_code == 200
    assert not settings_get().smtp_password_sealed


def test_what_moves_no_mail_needs_no_password(admin):
    mail_set_up(admin)
    body = {"smtp_host": "127.0.0.1", "smtp_port": 465, "smtp_security": "tls", "mail_to": ["dba@example.com"]}
    assert admin.patch(PATH, body, HTTP_IF_MATCH="*").status_code == 200
    assert smtp_password(settings_get()) == "m41l-pass"


def test_without_a_mail_password_the_server_is_moved_freely(admin):
    assert admin.patch(PATH, {"smtp_host": "127.0.0.1"}, HTTP_IF_MATCH="*").status_code == 200
    assert admin.patch(PATH, {"smtp_host": "127.0.0.2"}, HTTP_IF_MATCH="*").status_code == 200


@pytest.mark.parametrize("host", ["mail.example:25", "http://mail", "a b", "mail\r\nRCPT", "-x", "a@b"])
def test_what_is_no_host_is_no_mail_server(admin, host):
    answer = admin.patch(PATH, {"smtp_host": host}, HTTP_IF_MATCH="*")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "smtp_host")


def test_a_mail_server_outside_the_allowed_networks_is_refused_and_not_connected_to(admin, settings, monkeypatch):
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("it was connected to"))
    refused = admin.patch(PATH, {"smtp_host": "192.0.2.25"}, HTTP_IF_MATCH="*")
    assert (refused.status_code, refused.json()["code"]) == (422, "endpoint_refused")
    assert refused.json()["errors"][0]["field"] == "smtp_host"
    assert not settings_get().smtp_host
    settings.MAIL_NETWORKS = ["192.0.2.0/24"]
    assert admin.patch(PATH, {"smtp_host": "192.0.2.25"}, HTTP_IF_MATCH="*").status_code == 200


def test_networks_of_mail_are_no_networks_of_endpoints(operator, settings):
    settings.MAIL_NETWORKS = ["192.0.2.0/24"]
    body = {"name": "new", "provider": "external", "instance_class": "local.small", "host": "192.0.2.1", "port": 1}
    refused = operator.post("/api/v1/instances", {**body, "username": "x", "password": "x"})
    assert (refused.status_code, refused.json()["code"]) == (422, "endpoint_refused")


def test_a_mail_server_is_moved_with_the_network_that_it_is_in(admin):
    body = {"smtp_host": "10.1.2.3", "endpoint_networks": ["127.0.0.0/8", "10.0.0.0/8"]}
    assert admin.patch(PATH, body, HTTP_IF_MATCH="*").status_code == 200


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
