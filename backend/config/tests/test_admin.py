"""`fqc-admin`: a backup made while others write is restored into an empty place, and is the same there."""

import io
import json
import os
import subprocess
import sys
import tarfile
import threading
import uuid
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from config.admin.__main__ import main
from controlplane.core.events import event_publish
from controlplane.core.models import Event
from controlplane.metrics.tests.fleet import instance_make
from stack.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
BACKEND = Path(__file__).parents[2]
ASK = """import django; django.setup()
from controlplane.fleet.models import Instance
print(Instance.objects.get().password)"""


@pytest.fixture
def instance():
    return instance_make(password="the password of a server")


@pytest.fixture
def elsewhere(tmp_path):
    """Yields the environment variables of a second installation for `fqc-admin`: an empty database, and the
    same keys.
    """
    if connection.vendor == "sqlite":
        url = f"sqlite:///{tmp_path}/elsewhere.sqlite3"
        yield _environment(tmp_path, url)
        return
    name = f"elsewhere_{uuid.uuid4().hex}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    facts = connection.settings_dict
    yield _environment(tmp_path, f"postgresql://{facts['USER']}@{facts['HOST']}:{facts['PORT']}/{name}")
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _environment(folder, url):
    given = {"FQC_RUN_DIR": str(folder / "run"), "FQC_DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "config.settings"}
    return os.environ | given | {"FQC_SEALING_KEYS": ",".join(settings.SEALING_KEYS)}


def run(environment, *words):
    words = [sys.executable, *words]
    return subprocess.run(words, cwd=BACKEND, env=environment, capture_output=True, text=True, check=False)


def admin(environment, *words):
    return run(environment, "-m", "config.admin", *map(str, words))


def about(file):
    with tarfile.open(file) as archive:
        return json.load(archive.extractfile("about.json"))


def altered(file, change):
    """Returns a copy of a backup, in the file `other` next to it, whose description `change` has edited in place."""
    facts, other = about(file), file.with_name("other")
    change(facts)
    with tarfile.open(file) as archive, tarfile.open(other, "w") as copy:
        (file.parent / "about.json").write_text(json.dumps(facts))
        copy.add(file.parent / "about.json", "about.json")
        member = archive.getmember("database")
        copy.addfile(member, archive.extractfile(member))
    return other


def writing(is_over):
    while not is_over.is_set():
        event_publish("instance", "i-1", {})
    connection.close()


def test_a_backup_made_while_others_write_is_the_same_where_it_is_restored(instance, elsewhere, tmp_path):
    file, again, is_over = tmp_path / "one", tmp_path / "two", threading.Event()
    writer = threading.Thread(target=writing, args=(is_over,))
    writer.start()
    assert wait_until(Event.objects.exists, 120)
    try:
        assert main(["backup", str(file)]) == 0
    finally:
        is_over.set()
        writer.join()
    assert file.stat().st_mode & 0o777 == 0o600
    done = admin(elsewhere, "restore", file)
    assert done.returncode == 0 and "restored and verified" in done.stdout, done.stderr
    assert run(elsewhere, "-c", ASK).stdout.strip() == "the password of a server"
    assert admin(elsewhere, "backup", again).returncode == 0
    assert about(again)["contents"] == about(file)["contents"]
    assert about(file)["contents"]["fleet_instance"][0] == "1"


def test_a_backup_is_not_put_over_anything(instance, elsewhere, tmp_path, capsys):
    file = tmp_path / "one"
    assert [main(["backup", str(file)]) for _ in range(2)] == [0, 1]
    assert "already exists" in capsys.readouterr().err
    assert main(["restore", str(file)]) == 1
    assert "is not empty" in capsys.readouterr().err
    assert admin(elsewhere, "restore", file).returncode == 0
    assert admin(elsewhere, "restore", file).returncode == 1


def test_a_backup_is_not_restored_without_the_keys_that_it_needs(instance, elsewhere, tmp_path):
    file = tmp_path / "one"
    main(["backup", str(file)])
    elsewhere["FQC_SEALING_KEYS"] = "another"
    refused = admin(elsewhere, "restore", file)
    assert refused.returncode == 1 and about(file)["sealing_keys"][0] in refused.stderr
    assert admin(elsewhere, "restore", "--without-keys", file).returncode == 0


def test_what_is_no_backup_is_refused(tmp_path, capsys):
    file = tmp_path / "one"
    file.write_text("nothing")
    assert main(["restore", str(file)]) == 1
    assert "is not a backup" in capsys.readouterr().err


def test_a_backup_of_a_newer_version_is_refused(instance, elsewhere, tmp_path):
    main(["backup", str(tmp_path / "one")])
    newer = altered(tmp_path / "one", lambda facts: facts["migrations"].append("fleet.9999_later"))
    refused = admin(elsewhere, "restore", newer)
    assert refused.returncode == 1 and "newer version" in refused.stderr


def test_a_restored_table_that_differs_is_named(instance, elsewhere, tmp_path):
    main(["backup", str(tmp_path / "one")])
    wrong = altered(tmp_path / "one", lambda facts: facts["contents"]["fleet_instance"].reverse())
    refused = admin(elsewhere, "restore", wrong)
    assert refused.returncode == 1 and "fleet_instance" in refused.stderr


def test_an_empty_place_is_prepared_by_migrate_and_first_admin(elsewhere, tmp_path):
    assert admin(elsewhere, "backup", tmp_path / "none").returncode == 1
    assert [admin(elsewhere, word).returncode for word in ("migrate", "first-admin", "rotate-key")] == [0, 0, 0]
    assert (tmp_path / "run" / "admin-password").exists()


def hostile(file, *members, mode="w"):
    """Writes a tar archive with these members, pairs of a header and the bytes that follow it, and returns its path.

    Headers and bytes need not agree.
    """
    with tarfile.open(file, mode) as archive:
        for member, content in members:
            archive.addfile(member, io.BytesIO(content))
    return file


def member(name, content=b"", **facts):
    found = tarfile.TarInfo(name)
    found.size = len(content)
    for fact, value in facts.items():
        setattr(found, fact, value)
    return found, content


DATABASE = member("database", b"SQLite format 3")
SAID = {"form": 1, "made_at": "", "vendor": "sqlite", "migrations": [], "sealing_keys": [], "contents": {}}


def saying(**facts):
    return member("about.json", json.dumps({**SAID, **facts}).encode())


HOSTILE = {
    "a link to itself": (saying(), member("database", type=tarfile.SYMTYPE, linkname="database")),
    "a link to a file of the machine": (saying(), member("database", type=tarfile.SYMTYPE, linkname="/etc/passwd")),
    "a hard link to a file of the machine": (
        saying(),
        member("database", type=tarfile.LNKTYPE, linkname="/etc/passwd"),
    ),
    "a device": (saying(), member("database", type=tarfile.CHRTYPE, devmajor=1, devminor=5)),
    "a description that goes deep": (member("about.json", b"[" * 100_000), DATABASE),
    "contents that are none": (saying(contents=[]), DATABASE),
    "a count that is none": (saying(contents={"t": ["many", "0"]}), DATABASE),
    "migrations that are none": (saying(migrations=None), DATABASE),
    "a vendor that is none": (saying(vendor=5), DATABASE),
    "names outside of it": (saying(), member("../database", b"x"), member("/tmp/database", b"x")),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_an_archive_that_means_harm_is_no_backup(what, elsewhere, tmp_path):
    file = hostile(tmp_path / "one", *HOSTILE[what])
    refused = admin(elsewhere, "restore", file)
    assert refused.returncode == 1 and "is not a backup, or it is damaged" in refused.stderr, refused.stderr
    assert "Traceback" not in refused.stderr
    assert not list((tmp_path / "run").glob("restore-*"))


def test_an_archive_does_not_become_larger_than_it_is(elsewhere, tmp_path):
    """Backups that are compressed or sparse are refused, so that extracting one cannot fill the disk."""
    zeros = 64 * 1024**2
    packed = hostile(tmp_path / "packed", saying(), member("database", b"\0" * zeros), mode="w:gz")
    holes = {
        "GNU.sparse.major": "1",
        "GNU.sparse.minor": "0",
        "GNU.sparse.realsize": str(2**60),
        "GNU.sparse.name": "database",
    }
    sparse = hostile(tmp_path / "sparse", saying(), member("other", b"0\n".ljust(512, b"\0"), pax_headers=holes))
    for file in (packed, sparse):
        assert file.stat().st_size < 1024**2
        refused = admin(elsewhere, "restore", file)
        assert refused.returncode == 1 and "is not a backup, or it is damaged" in refused.stderr, refused.stderr


def test_a_backup_does_not_go_into_a_file_that_somebody_else_has_laid_there(instance, tmp_path):
    file = tmp_path / "one"
    laid = [file.with_name(name) for name in ("one.part", "archive", "about.json", "database")]
    for path in laid:
        path.write_text("mine")
        path.chmod(0o666)
    assert main(["backup", str(file)]) == 0
    assert {path.read_text() for path in laid} == {"mine"}
    assert file.stat().st_mode & 0o777 == 0o600
