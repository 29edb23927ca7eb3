"""An application that cannot be fetched on a machine is skipped in capitals, which is no failure."""

from argparse import Namespace

import pytest

from driver.product import MARIADB
from lab import __main__ as command
from lab import packages, suites
from lab.ghost import Ghost


class Missing:
    schema = "missing"
    products = (MARIADB,)

    def prepare(self, folder, product):
        raise packages.Unavailable("there is no mirror")


def test_an_application_that_cannot_be_had_is_skipped_in_capitals(monkeypatch, capsys):
    monkeypatch.setitem(command.APPLICATIONS, "missing", Missing)
    arguments = Namespace(apps=["missing"], modes=["off"], rounds=1, product=None, distance=0)
    assert command._run(arguments, command.SMALL) == {}
    assert "\nSKIPPED: MISSING COULD NOT BE HAD: there is no mirror\n" in capsys.readouterr().out


def test_a_package_that_does_not_exist_is_unavailable(monkeypatch, tmp_path):
    monkeypatch.setattr(packages, "CACHE", tmp_path)
    with pytest.raises(packages.Unavailable):
        packages.fetch(["there-is-no-such-package"])
    assert list(tmp_path.iterdir()) == []


def test_the_source_of_a_package_that_does_not_exist_is_unavailable(monkeypatch, tmp_path):
    monkeypatch.setattr(packages, "CACHE", tmp_path)
    with pytest.raises(packages.Unavailable, match="apt knows no package"):
        packages.fetch_source("there-is-no-such-package")
    assert list(tmp_path.iterdir()) == []


def test_a_suite_that_cannot_be_had_is_skipped_in_capitals(capsys):
    class Missing:
        name = "missing"
        tests = ()

        def prepare(self):
            raise packages.Unavailable("there is no mirror")

    assert suites.run([Missing()], ["off"], MARIADB, [], print) == 0
    assert "SKIPPED: THE TESTS OF MISSING COULD NOT BE HAD: there is no mirror\n" in capsys.readouterr().out


def test_links_into_the_system_lead_to_what_was_unpacked(tmp_path):
    (tmp_path / "usr").mkdir()
    (tmp_path / "usr" / "file").write_text("unpacked")
    (tmp_path / "link").symlink_to("/usr/file")
    (tmp_path / "elsewhere").symlink_to("/usr/bin/env")
    packages._keep_links_inside(tmp_path)
    assert (tmp_path / "link").read_text() == "unpacked"
    assert str((tmp_path / "elsewhere").readlink()) == "/usr/bin/env"


def test_an_application_is_skipped_on_a_product_on_which_it_does_not_run():
    with pytest.raises(packages.Unavailable, match="does not run on MariaDB"):
        command._chosen(Ghost(), MARIADB)


def test_what_could_not_be_fetched_leaves_no_folder_and_is_fetched_once(monkeypatch, tmp_path):
    monkeypatch.setattr(packages, "CACHE", tmp_path)

    def fail(draft):
        (draft / "half").touch()
        packages.ran(["false"], draft)

    with pytest.raises(packages.Unavailable):
        packages.kept("application", fail)
    assert list(tmp_path.iterdir()) == []
    first = packages.kept("application", lambda draft: (draft / "file").touch())
    assert packages.kept("application", fail) == first
    assert (first / "file").exists()
