import pytest
from django.conf import settings

from controlplane.fleet.models import Instance
from controlplane.gateway.engine import library_minor_version

pytestmark = pytest.mark.django_db


def test_what_is_offered_is_what_a_server_says_that_has_it(viewer, instance):
    offered = library_minor_version(settings.ENGINE_LIBRARY)
    assert offered == instance.minor_version
    found = viewer.get("/api/v1/minor-versions").json()
    assert (found["least_acceptable"], found["offered"]) == (20200331, offered)
    assert found["items"] == [
        {"minor_version": offered, "is_acceptable": True, "is_offered": True, "instance_count": 1}
    ]


def test_a_version_that_is_too_old_is_listed_as_such(viewer, instance):
    Instance.objects.update(minor_version=20190101)
    found = viewer.get("/api/v1/minor-versions").json()["items"]
    assert [(each["minor_version"], each["is_acceptable"], each["instance_count"]) for each in found] == [
        (library_minor_version(settings.ENGINE_LIBRARY), True, 0),
        (20190101, False, 1),
    ]


def test_without_a_library_nothing_is_offered(viewer, settings):
    settings.ENGINE_LIBRARY = settings.RUN_DIR / "no-such-file.so"
    found = viewer.get("/api/v1/minor-versions").json()
    assert (found["offered"], found["items"]) == (None, [])
