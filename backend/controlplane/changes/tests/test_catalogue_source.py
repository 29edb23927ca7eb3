"""Which servers describe the variables of their line to all: those that the product made, or that an admin trusts."""

import pytest
from django.conf import settings

from controlplane.audit.models import AuditEvent
from controlplane.catalogue.models import EngineLine
from controlplane.changes.execution import change_run
from controlplane.changes.models import ChangeSet
from controlplane.changes.watch import watch, watch_silent
from controlplane.fleet.definitions import instance_line, unknown_line
from controlplane.fleet.kept_connections import Connections
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import server_line_id
from controlplane.gateway.engine import install_engine
from testing.servers import row_for

pytestmark = pytest.mark.django_db
OWN = "aria_pagecache_age_threshold"  # a variable that only MariaDB has


@pytest.fixture
def look():
    kept = Connections()
    yield lambda: watch(kept)
    kept.keep_only(())


def registered(client, server) -> Instance:
    account = {"host": server.host, "port": server.port, "username": "tester", "password": "may-do-everything"}
    body = {"name": "other", "provider": "external", "instance_class": "local.small", **account}
    made = client.post("/api/v1/instances", body)
    assert made.status_code == 202, made.json()
    for change in ChangeSet.objects.filter(state="approved"):
        change_run(change.pk)
    return Instance.objects.get(pk=made.json()["id"])


def preview(client, instance, name):
    body = {"instance": instance.pk, "parameters": {name: "300"}}
    return {each["code"] for each in client.post("/api/v1/changes/preview", body, format="json").json()["findings"]}


def patched(client, instance, is_source):
    body = {"is_catalogue_source": is_source}
    return client.patch(f"/api/v1/instances/{instance.pk}", body, format="json", HTTP_IF_MATCH="*")


def test_what_an_operator_registers_teaches_nobody_until_an_admin_approves(operator, admin, shared_server, look):
    instance = registered(operator, shared_server)
    assert (instance.state, instance.is_catalogue_source) == ("running", False)
    look()
    assert not EngineLine.objects.exists()
    line = server_line_id(instance.engine_version)
    assert unknown_line(instance) == line
    assert preview(operator, instance, OWN) == {"line_unknown", "unknown_parameter"}
    check = operator.get(f"/api/v1/instances/{instance.pk}/prerequisites").json()["findings"]
    assert "line_unknown" in [each["code"] for each in check]
    refused = patched(operator, instance, True)
    assert (refused.status_code, refused.json()["code"]) == (403, "admin_only")

    assert patched(admin, instance, True).json()["is_catalogue_source"]
    look()
    row = EngineLine.objects.get()
    assert (row.pk, row.read_from) == (line, "other")
    assert AuditEvent.objects.get(action="engine_line.created").after["read_from"] == "other"
    assert preview(operator, instance, OWN) == set()


def test_values_that_run_on_a_server_of_an_unknown_line_are_shown_and_its_shipped_ones_set(operator, shared_server):
    instance = registered(operator, shared_server)
    rows = operator.get(f"/api/v1/instances/{instance.pk}/parameters").json()["items"]
    shown = {each["name"]: each["running"] for each in rows}
    assert shown["long_query_time"] and OWN not in shown
    assert preview(operator, instance, "long_query_time") == {"line_unknown"}


def test_what_an_admin_registers_describes_its_line_at_once(admin, shared_server):
    instance = registered(admin, shared_server)
    assert instance.is_catalogue_source and EngineLine.objects.get().read_from == "other"
    assert OWN in instance_line(instance).definitions


def test_a_token_of_an_admin_with_the_scope_of_an_operator_makes_no_source(admin, shared_server):
    from controlplane.accounts.services import token_create

    _, text = token_create(admin.user, name="lesser", scope="operator")
    admin.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    instance = registered(admin, shared_server)
    assert not instance.is_catalogue_source and not EngineLine.objects.exists()
    assert patched(admin, instance, True).status_code == 403


@pytest.mark.parametrize("moved", [{"port": 1}, {"username": "other"}, {"is_tls_required": True}, {"tls_ca": ""}])
def test_a_server_that_an_operator_moves_is_no_source_any_more(operator, admin, shared_server, moved):
    instance = registered(admin, shared_server)
    path, body = f"/api/v1/instances/{instance.pk}", {**moved, "password": "x"}
    shown = operator.patch(path, body, format="json", HTTP_IF_MATCH="*").json()
    # an update to the present value does not count as a move
    assert shown["is_catalogue_source"] == (moved == {"tls_ca": ""})
    again = admin.patch(path, {"port": 2, "password": "x"}, format="json", HTTP_IF_MATCH="*").json()
    assert again["is_catalogue_source"]


def test_a_local_server_describes_its_line_and_cannot_be_kept_from_it(admin, instance, look):
    EngineLine.objects.all().delete()
    look()
    assert EngineLine.objects.get().read_from == instance.name
    refused = patched(admin, instance, False)
    assert (refused.status_code, refused.json()["code"]) == (409, "local_source")


def test_a_source_that_was_silent_when_it_was_registered_describes_its_line_later(admin, shared_server):
    instance = row_for(shared_server, provider="external", state="failed", is_catalogue_source=True)
    EngineLine.objects.all().delete()
    watch_silent()
    instance.refresh_from_db()
    assert (instance.state, EngineLine.objects.get().read_from) == ("running", instance.name)


def test_a_server_that_gets_the_engine_later_describes_the_variables_of_the_engine(operator, own_server, look):
    server = own_server()
    instance = row_for(server, provider="external", is_catalogue_source=True)
    line = EngineLine.objects.get()
    line.definitions.append({**line.definitions[0], "name": "of_another_plugin"})
    line.save()
    assert "fqc_observe" not in instance_line(instance).definitions
    install_engine(server, server.connect(), settings.ENGINE_LIBRARY)
    look()
    assert {"fqc_observe", OWN, "of_another_plugin"} <= instance_line(instance).definitions.keys()
    assert EngineLine.objects.get().minor_version == Instance.objects.get().minor_version
    assert "unknown_parameter" not in preview(operator, instance, "fqc_limit")
    read_at = EngineLine.objects.get().read_at
    look()
    assert EngineLine.objects.get().read_at == read_at


def test_a_source_that_answers_nonsense_keeps_no_other_from_describing_its_line(shared_server, look, monkeypatch):
    from controlplane.fleet import observation

    second = row_for(shared_server, name="b", provider="external", is_catalogue_source=True)
    second.pk, second.name = "rm-second", "a"
    second.password = shared_server.password
    second.save(force_insert=True)
    EngineLine.objects.all().delete()
    read = observation.variable_rows
    rows = [lambda *_: [("too", "few")], read]
    monkeypatch.setattr(observation, "variable_rows", lambda *given: rows.pop(0)(*given))
    look()
    assert EngineLine.objects.get().read_from in ("a", "b") and rows == []


def test_a_line_is_shown_with_its_source_and_forgotten_by_admins_alone(operator, viewer, admin, instance, look):
    line = server_line_id(instance.engine_version)
    EngineLine.objects.update(read_from="somebody")
    path = f"/api/v1/engine-lines/{line}"
    EngineLine.objects.update(read_at="2026-01-01T00:00:00Z")  # as if it was read again
    shown = viewer.get(path).json()
    assert (shown["source"], shown["read_from"], shown["read_at"]) == ("server", "somebody", "2026-01-01T00:00:00Z")
    for client in (viewer, operator):
        assert client.delete(path).status_code == 403
    assert admin.delete(path).status_code == 204
    told = AuditEvent.objects.get(action="engine_line.deleted")
    assert (told.actor, told.target_id, told.before["read_from"]) == (admin.user.username, line, "somebody")
    assert viewer.get(path).status_code == 404
    look()
    assert viewer.get(path).json()["read_from"] == instance.name


@pytest.mark.parametrize(
    ("line", "status", "code"), [("5.7", 409, "shipped_line"), ("9.9", 404, "engine_line_not_found")]
)
def test_only_what_was_read_from_a_server_can_be_forgotten(admin, line, status, code):
    answer = admin.delete(f"/api/v1/engine-lines/{line}")
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_an_instance_of_a_forgotten_line_keeps_nobody_from_being_looked_at(operator, admin, instance, look):
    """An instance whose `engine_line` was deleted from the catalogue has a default line instead, and a round of looks
    still works.

    A new instance with an unknown line is refused.
    """
    line = server_line_id(instance.engine_version)
    Instance.objects.filter(pk=instance.pk).update(engine_line=line)
    admin.delete(f"/api/v1/engine-lines/{line}")
    instance.refresh_from_db()
    assert "long_query_time" in instance_line(instance).definitions
    look()
    body = {"name": "other", "provider": "external", "instance_class": "local.small", "engine_line": "9.9"}
    account = {"host": "127.0.0.1", "port": 1, "username": "u", "password": "p"}
    refused = operator.post("/api/v1/instances", {**body, **account})
    assert refused.json()["code"] == "engine_line_not_found"
