"""A fleet-wide preview uses the stored privileges of each server's account, and queries no server."""

from datetime import timedelta

import pytest
from django.utils import timezone

from controlplane.core.request_context import acting_as
from controlplane.fleet.models import Instance, PrivilegeLook
from controlplane.fleet.services import instance_update
from controlplane.parameters.services import template_create, template_update
from controlplane.prerequisites import privilege_looks
from controlplane.prerequisites.check import instance_check
from controlplane.rollouts import execution
from testing.accounts import ACCOUNT, PASSWORD, limited
from testing.servers import row_for

pytestmark = pytest.mark.django_db
GRANTED = {"shared_server": "SUPER", "shared_mysql": "SYSTEM_VARIABLES_ADMIN"}


@pytest.fixture(autouse=True)
def template():
    values = {"long_query_time": "2", "sort_buffer_size": "1M"}
    return template_create(name="slow-log", engine_line="5.7", values=values)


@pytest.fixture
def delivered(monkeypatch):
    queue = []
    monkeypatch.setattr(execution, "deliver_item", queue.append)
    monkeypatch.setattr(execution.transaction, "on_commit", lambda send: send())
    return queue


def previewed(operator, instance, **parameters):
    return operator.post("/api/v1/changes/preview", {"instance": instance.pk, "parameters": parameters}).json()


def fleet_preview(client, *instances):
    asked = {"template": "slow-log", "instances": [each.pk for each in instances]}
    return client.post("/api/v1/fleet-applies/preview", asked).json()["items"]


def codes(item):
    return [(each["code"], each["severity"]) for each in item["findings"]]


@pytest.mark.parametrize(
    ("server_of", "owner_of"), [("shared_server", "owner"), ("shared_mysql", "mysql_owner")], ids=["MariaDB", "MySQL"]
)
def test_of_two_the_one_whose_account_lacks_a_privilege_is_refused_with_its_grant_until_it_is_checked_again(
    request, operator, viewer, instance, delivered, server_of, owner_of
):
    server, owner = request.getfixturevalue(server_of), request.getfixturevalue(owner_of)
    short = limited(server, owner, f"GRANT PROCESS ON *.* TO {ACCOUNT}", id="rm-short", name="short")
    instance_check(short)
    grant = f"GRANT {GRANTED[server_of]} ON *.* TO {ACCOUNT};"

    items = {each["instance"]: each for each in fleet_preview(viewer, instance, short)}
    assert (items[instance.pk]["blocking"], items[instance.pk]["findings"]) == ([], [])
    refused = items[short.pk]
    assert codes(refused) == [("privilege_missing", "blocking")] * 2
    assert refused["findings"] == [
        each
        for each in previewed(operator, short, long_query_time="2", sort_buffer_size="1M")["findings"]
        if each["code"] == "privilege_missing"
    ], "as the preview of one instance says it"
    assert refused["blocking"][-1] == grant

    asked = {"template": "slow-log", "instances": [instance.pk, short.pk], "start": True}
    row = operator.post("/api/v1/fleet-applies", asked).json()["id"]
    execution.advance(row)
    while delivered:
        execution.run_items(delivered.pop(0))
    found = {each["instance"]: each for each in operator.get(f"/api/v1/fleet-applies/{row}/items").json()["items"]}
    assert operator.get(f"/api/v1/fleet-applies/{row}").json()["state"] == "done"
    assert (found[instance.pk]["state"], found[short.pk]["state"]) == ("applied", "blocked")
    assert found[short.pk]["detail"].endswith(grant)
    assert not short.changes.exists()

    owner.run(grant)
    assert codes(fleet_preview(viewer, short)[0]), "nobody has asked the server since"
    instance_check(short)
    assert (fleet_preview(viewer, short)[0]["blocking"], codes(fleet_preview(viewer, short)[0])) == ([], [])


def test_what_was_never_asked_is_said_and_not_refused(viewer, shared_server, owner):
    short = limited(shared_server, owner)
    [item] = fleet_preview(viewer, short)
    assert (item["blocking"], codes(item)) == ([], [("privileges_unknown", "advice")])
    assert "long_query_time" in item["findings"][0]["seen"]


def test_a_preview_of_one_instance_lets_the_fleet_know(operator, viewer, shared_server, owner):
    short = limited(shared_server, owner)
    previewed(operator, short, max_connections="77")
    assert codes(fleet_preview(viewer, short)[0]) == [("privilege_missing", "blocking")] * 2


def test_what_was_asked_long_ago_is_told_with_its_age_and_not_refused(viewer, shared_server, owner):
    short = limited(shared_server, owner)
    instance_check(short)
    PrivilegeLook.objects.update(at=timezone.now() - timedelta(days=3, hours=1))
    [item] = fleet_preview(viewer, short)
    assert (item["blocking"], codes(item)) == ([], [("privileges_old", "advice")])
    assert item["findings"][0]["facts"] | {"names": ""} == {"days": "3", "lacked": "SUPER", "names": ""}


def test_of_another_account_nothing_is_known(viewer, shared_server, owner):
    short = limited(shared_server, owner)
    instance_check(short)
    with acting_as("tester"):
        instance_update(short, {"username": "somebody", "password": PASSWORD})
    assert codes(fleet_preview(viewer, short)[0]) == [("privileges_unknown", "advice")]
    assert not PrivilegeLook.objects.exists(), "the next round asks"


def test_a_round_asks_once_and_again_when_a_template_has_changed_and_not_who_is_silent(
    viewer,
    shared_server,
    owner,
    template,
):
    short = limited(shared_server, owner, f"GRANT SUPER ON *.* TO {ACCOUNT}")
    gone = row_for(shared_server, id="rm-gone", name="gone", provider="external")
    Instance.objects.filter(pk=gone.pk).update(state="unreachable")
    privilege_looks.look_round()
    first = PrivilegeLook.objects.get()
    assert (first.instance_id, first.missing, first.account) == (short.pk, {}, ACCOUNT)
    assert {"long_query_time", "sort_buffer_size", "query_cache_type"} <= {*first.asked}
    privilege_looks.look_round()
    assert PrivilegeLook.objects.get().at == first.at
    with acting_as("tester"):
        template_update(template=template, values={"max_connections": "77"})
    owner.run(f"REVOKE SUPER ON *.* FROM {ACCOUNT}")
    privilege_looks.look_round()
    found = PrivilegeLook.objects.get()
    assert (found.missing["max_connections"], found.missing["long_query_time"]) == ("CONNECTION ADMIN", "SUPER")


def test_a_round_that_gets_no_answer_keeps_what_was_answered_before(shared_server, owner):
    short = limited(shared_server, owner)
    instance_check(short)
    owner.run(f"ALTER USER {ACCOUNT} IDENTIFIED BY 'another'")
    long_ago = timezone.now() - timedelta(days=1)
    PrivilegeLook.objects.update(tried_at=long_ago, at=long_ago)
    privilege_looks.look_round()
    found = PrivilegeLook.objects.get()
    assert found.tried_at > long_ago and found.at == long_ago and found.missing
