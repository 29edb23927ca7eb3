"""Two servers of one host with the system's folder for temporary files can crash each other."""

import pytest

from controlplane.metrics.tests.fleet import instance_make
from controlplane.prerequisites.readings import Readings
from controlplane.prerequisites.shared_tmpdir import tmpdir_shared

pytestmark = pytest.mark.django_db


def seen(instance, tmpdir, version="10.11.11-MariaDB"):
    readings = Readings(1, {"tmpdir": tmpdir, "version": version}, {})
    return [finding.seen for finding in tmpdir_shared(instance, readings)]


def test_servers_of_one_host_that_share_the_systems_folder_are_told():
    one, other = (instance_make(name=name, host="db.example", product="MariaDB") for name in ("one", "other"))
    instance_make(name="local", host="db.example", product="MariaDB", provider="local")
    elsewhere = instance_make(name="elsewhere", host="db2.example", product="MariaDB")
    assert seen(one, "/tmp/") == ["tmpdir is /tmp, the system's folder, and other is on the same host"]
    assert seen(elsewhere, "/tmp") == []
    for own in ("/var/lib/one/tmp", "", "/tmp/one"):
        assert seen(one, own) == []
    assert seen(one, "/tmp", "9.7.4") == []
    other.product = "MySQL"
    other.save()
    assert seen(one, "/tmp") == []
