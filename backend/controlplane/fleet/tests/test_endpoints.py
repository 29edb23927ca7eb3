"""The check of a server before it is registered, and custom classes for sizes that no shipped class has."""

import pytest

from controlplane.audit.models import AuditEvent
from controlplane.fleet import services
from controlplane.fleet.connection import connected
from controlplane.fleet.endpoints import EndpointCheckThrottle
from controlplane.fleet.models import Instance, InstanceClass
from controlplane.fleet.observation import learn_line
from controlplane.gateway.tests.stranger import stranger

pytestmark = pytest.mark.django_db
GIB = 1024**3


def test_a_connection_is_tried_before_there_is_an_instance(operator, viewer, instance, shared_server):
    account = {"host": instance.host, "port": instance.port, "username": "tester", "password": "may-do-everything"}
    found = operator.post("/api/v1/endpoints/check", account).json()
    assert (found["product"], found["same_endpoint"]) == ("MariaDB", [instance.name])
    assert found["cpu_count"] and found["max_connections"] and found["buffer_pool_bytes"] == 256 * 1024**2
    assert Instance.objects.count() == 1
    denied = operator.post("/api/v1/endpoints/check", {**account, "password": "wrong"})
    assert (denied.status_code, denied.json()["code"]) == (422, "server_denied")
    silent = operator.post("/api/v1/endpoints/check", {**account, "port": 1})
    assert silent.json()["code"] == "server_unreachable"
    assert viewer.post("/api/v1/endpoints/check", account).status_code == 403


def test_a_check_reaches_no_network_that_endpoints_may_not_be_in(operator):
    account = {"host": "192.0.2.1", "port": 3306, "username": "u", "password": "p"}
    answer = operator.post("/api/v1/endpoints/check", account)
    assert answer.json()["code"] == "endpoint_refused"


def test_a_check_does_not_tell_other_services_from_closed_ports(operator):
    account = {"host": "127.0.0.1", "username": "u", "password": "p"}
    with stranger(b"SSH-2.0-OpenSSH_9.2\r\n") as port:
        other = operator.post("/api/v1/endpoints/check", {**account, "port": port})
    closed = operator.post("/api/v1/endpoints/check", {**account, "port": 1})
    assert (other.status_code, closed.status_code) == (503, 503)
    told = [each.json()["detail"].replace(f":{at}:", ":PORT:") for each, at in ((other, port), (closed, 1))]
    assert told[0] == told[1] and "SSH" not in told[0] and "refused" not in told[0]


def test_a_check_is_on_record_whatever_comes_of_it(operator):
    account = {"host": "192.0.2.1", "port": 3306, "username": "u", "password": "p"}
    operator.post("/api/v1/endpoints/check", account)
    event = AuditEvent.objects.get(action="endpoint.checked")
    assert (event.actor, event.target_name) == (operator.user.username, "192.0.2.1:3306")
    assert event.after == {"host": "192.0.2.1", "port": 3306, "username": "u"}


def test_nobody_checks_one_endpoint_after_another(operator, monkeypatch):
    monkeypatch.setattr(EndpointCheckThrottle, "rate", "0/min", raising=False)
    account = {"host": "127.0.0.1", "port": 1, "username": "u", "password": "p"}
    answer = operator.post("/api/v1/endpoints/check", account)
    assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
    assert answer.headers["Retry-After"] and not AuditEvent.objects.filter(action="endpoint.checked").exists()
    assert operator.get("/api/v1/instances").status_code == 200


def test_a_machine_of_any_size_has_a_class_and_like_machines_share_one(operator, viewer):
    size = {"cpu_count": 6, "memory_bytes": 24 * GIB, "max_connections": 500}
    made = operator.post("/api/v1/instance-classes/custom", size).json()
    assert (made["name"], made["variables"]["DBInstanceClassMemory"]) == ("custom-6cpu-24GiB-500", 24 * GIB)
    assert operator.post("/api/v1/instance-classes/custom", size).json()["id"] == made["id"]
    other = operator.post("/api/v1/instance-classes/custom", {**size, "storage_bytes": 5 * GIB}).json()
    assert other["name"] == "custom-6cpu-24GiB-500-2"
    assert viewer.post("/api/v1/instance-classes/custom", size).status_code == 403


def test_operators_make_only_so_many_classes_of_a_size(operator, monkeypatch):
    monkeypatch.setattr(services, "MOST_CUSTOM", 2)
    sizes = [{"cpu_count": count, "memory_bytes": 24 * GIB, "max_connections": 500} for count in (1, 2, 3, 1)]
    answers = [operator.post("/api/v1/instance-classes/custom", size) for size in sizes]
    assert [each.status_code for each in answers] == [200, 200, 409, 200]
    assert answers[2].json()["code"] == "too_many_classes"


def test_classes_are_listed_by_size(viewer):
    found = viewer.get("/api/v1/instance-classes?limit=200").json()["items"]
    sizes = [(each["memory_bytes"], each["cpu_count"]) for each in found]
    assert sizes == sorted(sizes) and len(sizes) == InstanceClass.objects.count()


def test_a_new_template_is_for_the_line_of_most_instances(operator, viewer, instance):
    viewer.get(f"/api/v1/instances/{instance.pk}/cache/status")
    instance.refresh_from_db()
    with connected(instance) as server:
        learn_line(instance, server, instance.engine_version, instance.minor_version)
    line = viewer.get("/api/v1/fleet/summary").json()["engine_line"]
    assert line.startswith("mariadb-")
    made = operator.post("/api/v1/templates", {"name": "mine", "values": {"aria_pagecache_buffer_size": "128M"}}).json()
    assert made["engine_line"] == line
