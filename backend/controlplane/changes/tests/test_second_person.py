"""If stopping a server requires a second person's approval, so does destroying its data."""

import pytest

from controlplane.changes.models import ChangeSet
from controlplane.fleet.models import Instance
from controlplane.metrics.tests.fleet import instance_make
from controlplane.settings.models import Settings
from testing.changes import run
from testing.servers import row_for

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _four_eyes(db):
    Settings.objects.update_or_create(pk=1, defaults={"is_four_eyes": True})


def delete(client, instance):
    return client.delete(f"/api/v1/instances/{instance.pk}", HTTP_IF_MATCH="*")


def test_a_deletion_with_its_data_waits_for_a_second_person(operator, admin, own_server):
    server = own_server()
    instance = row_for(server)
    asked = delete(operator, instance)
    change = asked.json()
    assert (asked.status_code, change["state"], change["needs_second_person"]) == (202, "previewed", True)
    path = f"/api/v1/changes/{change['id']}"
    for word in ("approve", "apply"):
        refused = operator.post(f"{path}/{word}", {} if word == "approve" else None)
        assert (refused.status_code, refused.json()["code"]) == (403, "second_person_needed")
    again = delete(operator, instance)
    assert (again.status_code, again.json()["code"]) == (409, "deletion_waiting")
    assert change["id"] in again.json()["detail"]
    assert run(ChangeSet.objects.get(pk=change["id"])).state == "previewed"
    assert server.pid is not None and (server.folder / "data").exists()

    assert admin.post(f"{path}/approve", {}).json()["state"] == "approved"
    assert run(ChangeSet.objects.get(pk=change["id"])).state == "applied"
    assert not server.folder.exists() and not Instance.objects.filter(pk=instance.pk).exists()


def test_a_deletion_that_was_given_up_or_overtaken_may_be_asked_for_again(operator, own_server):
    instance = row_for(own_server())
    first = delete(operator, instance).json()["id"]
    assert operator.post(f"/api/v1/changes/{first}/abort").status_code == 200
    assert delete(operator, instance).status_code == 202
    Instance.objects.filter(pk=instance.pk).update(version=instance.version + 1)
    assert delete(operator, instance).status_code == 202


def test_an_external_server_is_forgotten_by_one_person_since_nothing_is_lost(operator):
    assert delete(operator, instance_make()).json()["state"] == "approved"
