"""The life of a local instance over the API: made, checked, enabled, resized, upgraded, deleted."""

import pytest
from django.conf import settings

from controlplane.changes.execution import change_run
from controlplane.changes.models import ChangeSet
from controlplane.fleet.local import local_server
from controlplane.fleet.models import Instance
from testing.changes import changed

pytestmark = pytest.mark.django_db


def work():
    """Runs all approved changes in this process, as a worker would."""
    for change in ChangeSet.objects.filter(state="approved"):
        change_run(change.pk)


@pytest.fixture
def made(operator):
    answer = operator.post(
        "/api/v1/instances",
        {"name": "shop", "provider": "local", "instance_class": "local.small", "tags": {"env": "t"}},
    )
    assert answer.status_code == 202
    work()
    instance = Instance.objects.get(pk=answer.json()["id"])
    yield instance
    local_server(instance).remove()


def act(client, instance, route, body):
    answer = client.post(f"/api/v1/instances/{instance.pk}/{route}", body, format="json")
    assert answer.status_code == 202, answer.json()
    work()
    change = client.get(f"/api/v1/changes/{answer.json()['id']}").json()
    instance.refresh_from_db()
    return change


def test_memory_is_weighed_with_what_the_server_runs(operator, made):
    """No finding says that memory is short: it is computed with the values that the server runs, not with defaults, of
    which the key buffer alone is a quarter of a small class.
    """
    answer = operator.post("/api/v1/instances/shop/cache/enable", {"rule": "buffer_pool"}, format="json")
    assert answer.status_code in (200, 201, 202), answer.json()
    assert "memory_tight" not in [each["code"] for each in answer.json()["findings"]]


def test_from_its_making_to_its_end(operator, made):
    shown = operator.get("/api/v1/instances/shop").json()
    assert (shown["state"], shown["has_engine"]) == ("running", True)
    assert shown["minor_version"] >= 20200331
    assert "password" not in str(shown).lower()

    ready = operator.get(f"/api/v1/instances/{made.pk}/prerequisites").json()
    assert ready["is_ready"], ready

    _enable_and_restart(operator, made)
    _resize(operator, made)
    _upgrade(operator, made)

    folder = local_server(made).folder
    answer = operator.delete(f"/api/v1/instances/{made.pk}", HTTP_IF_MATCH="*")
    assert answer.status_code == 202
    work()
    assert operator.get("/api/v1/instances/shop").status_code == 404
    assert not folder.exists()
    kept = operator.get(f"/api/v1/changes/{answer.json()['id']}").json()
    assert (kept["state"], kept["instance"], kept["instance_name"]) == ("applied", None, "shop")


def _enable_and_restart(operator, made):
    change = act(operator, made, "cache/enable", {"rule": "buffer_pool"})
    assert change["state"] == "applied", change
    values = {line["name"]: line["new_submitted"] for line in change["lines"]}
    assert values == {
        "innodb_buffer_pool_size": "{DBInstanceClassMemory*63/100}",
        "query_cache_size": "37538816",
        "query_cache_type": "1",
    }
    assert operator.get(f"/api/v1/instances/{made.pk}/cache/status").json()["is_enabled"]
    assert act(operator, made, "restart", {})["state"] == "applied"
    status = operator.get(f"/api/v1/instances/{made.pk}/cache/status").json()
    assert (status["is_enabled"], status["size_bytes"]) == (True, 37538816)


def _resize(operator, made):
    path = f"/api/v1/instances/{made.pk}/resize"
    undecided = operator.post(path, {"instance_class": "local.medium"})
    assert (undecided.status_code, undecided.json()["code"]) == (422, "cache_size_undecided")
    decision = {
        "instance_class": "local.medium",
        "parameters": {"query_cache_size": "{DBInstanceClassMemory*7/100/1024*1024}"},
    }
    change = act(operator, made, "resize", decision)
    assert change["state"] == "applied", change
    assert made.instance_class.name == "local.medium"
    pool = made.parameters.get(name="innodb_buffer_pool_size")
    assert (pool.submitted, pool.resolved) == ("{DBInstanceClassMemory*63/100}", str(1024**3 * 63 // 100))


def _upgrade(operator, made):
    pid = local_server(made).pid
    change = act(operator, made, "upgrade", {})
    assert [step["kind"] for step in change["steps"]] == ["install_engine", "restart"]
    assert change["state"] == "applied", change
    assert local_server(made).pid != pid
    assert made.minor_version is not None


def test_a_creation_that_fails_leaves_nothing_running_and_says_why(operator, monkeypatch):
    monkeypatch.setattr(settings, "ENGINE_LIBRARY", settings.RUN_DIR / "no-such-file.so")
    answer = operator.post(
        "/api/v1/instances", {"name": "broken", "provider": "local", "instance_class": "local.small"}
    )
    work()
    shown = operator.get(f"/api/v1/instances/{answer.json()['id']}").json()
    assert shown["state"] == "failed"
    assert "no-such-file.so" in shown["state_reason"]
    assert not local_server(Instance.objects.get(name="broken")).folder.exists()


def test_the_proxy_blocks_enabling_until_it_is_disabled(operator, instance):
    Instance.objects.update(proxy_enabled=True)
    blocked = operator.post(f"/api/v1/instances/{instance.pk}/cache/enable", {})
    assert (blocked.status_code, blocked.json()["code"]) == (422, "dedicated_proxy")
    findings = operator.get(f"/api/v1/instances/{instance.pk}/prerequisites").json()["findings"]
    action = next(each for each in findings if each["code"] == "dedicated_proxy")["action"]
    assert act(operator, instance, action["route"], action["body"])["state"] == "applied"
    assert operator.get(f"/api/v1/instances/{instance.pk}/prerequisites").json()["is_ready"]


def test_enabling_and_disabling_gives_the_buffer_pool_back(operator, instance):
    enabled = act(operator, instance, "cache/enable", {"rule": "explicit", "size_bytes": 1048576})
    assert enabled["state"] == "applied", enabled
    before = {line["name"]: line["old_value"] for line in enabled["lines"]}["innodb_buffer_pool_size"]
    disabled = act(operator, instance, "cache/disable", {})
    assert disabled["state"] == "applied", disabled
    pool = instance.parameters.get(name="innodb_buffer_pool_size")
    assert pool.resolved == before
    assert not operator.get(f"/api/v1/instances/{instance.pk}/cache/status").json()["is_enabled"]


def test_enabling_again_takes_no_more_of_the_buffer_pool_and_disabling_gives_all_of_it_back(operator, instance):
    first = act(operator, instance, "cache/enable", {"rule": "explicit", "size_bytes": 1048576})
    before = {line["name"]: line["old_value"] for line in first["lines"]}["innodb_buffer_pool_size"]
    again = act(operator, instance, "cache/enable", {"rule": "explicit", "size_bytes": 2097152})
    assert again["state"] == "applied", again
    assert {line["name"] for line in again["lines"]} == {"query_cache_size"}
    disabled = act(operator, instance, "cache/disable", {})
    assert disabled["state"] == "applied", disabled
    assert instance.parameters.get(name="innodb_buffer_pool_size").resolved == before


def test_enabling_again_without_a_size_leaves_what_is_on_as_it_is(operator, instance):
    enabled = act(operator, instance, "cache/enable", {"rule": "explicit", "size_bytes": 67108864})
    assert enabled["state"] == "applied", enabled
    preview = operator.post(f"/api/v1/instances/{instance.pk}/cache/preview", {}).json()
    assert (preview["lines"], preview["steps"]) == ([], [])
    chosen = operator.post(f"/api/v1/instances/{instance.pk}/cache/preview", {"rule": "buffer_pool"}).json()
    assert {line["name"] for line in chosen["lines"]} == {"query_cache_size"}


def test_the_pool_gives_way_once_also_for_a_cache_that_was_on_by_itself(operator, instance, shared_server):
    def planned():
        body = {"rule": "explicit", "size_bytes": 2097152}
        preview = operator.post(f"/api/v1/instances/{instance.pk}/cache/preview", body).json()
        return {line["name"] for line in preview["lines"]}

    server = shared_server.connect()
    server.set_global("query_cache_size", 1048576)
    server.set_global("query_cache_type", 1)
    server.close()
    assert "innodb_buffer_pool_size" in planned()
    act(operator, instance, "cache/enable", {"rule": "explicit", "size_bytes": 1048576})
    assert "innodb_buffer_pool_size" not in planned()
    changed(instance, {"query_cache_type": "0", "query_cache_size": "0"})
    assert "innodb_buffer_pool_size" not in planned()


def test_what_was_never_seen_is_not_said_to_lack_an_engine(operator, own_server):
    from testing.servers import row_for

    bare = row_for(own_server(), provider="external")
    bare.password, bare.last_seen_at, bare.minor_version = "wrong", None, None
    bare.save()
    findings = operator.get(f"/api/v1/instances/{bare.pk}/prerequisites").json()["findings"]
    codes = [each["code"] for each in findings]
    assert "server_denied" in codes and "minor_version" not in codes


def test_a_server_without_the_engine_is_told_how_to_get_it(operator, own_server):
    from testing.servers import row_for

    bare = row_for(own_server(), provider="external")
    findings = operator.get(f"/api/v1/instances/{bare.pk}/prerequisites").json()["findings"]
    missing = next(each for each in findings if each["code"] == "minor_version")
    assert missing["severity"] == "blocking"
    assert "INSTALL SONAME 'fqc';" in missing["action"]["statements"]
    refused = operator.post(f"/api/v1/instances/{bare.pk}/upgrade", {})
    assert (refused.status_code, refused.json()["code"]) == (422, "not_local")
    # one statement per line, since the first line is a comment
    assert "\nINSTALL SONAME 'fqc';\n" in refused.json()["detail"]


def test_an_endpoint_outside_the_networks_is_never_connected_to(operator):
    body = {"name": "far", "provider": "external", "instance_class": "local.small", "host": "192.0.2.1", "port": 3306}
    answer = operator.post("/api/v1/instances", {**body, "username": "u", "password": "p"})
    assert (answer.status_code, answer.json()["code"]) == (422, "endpoint_refused")
    assert not Instance.objects.exists()
