"""A run on several workers fails if it reports fewer tests than were collected."""

import subprocess
import sys

import pytest

from testing.workers import BACKEND

TESTS = """
import pytest

@pytest.mark.parametrize("number", range(4))
def test_of_some(number):
    assert number != {fails}
"""
# The first test is collected twice. Of each name in `loses` one test counts as run although it was not.
CONFTEST = """
loses = {loses}

def pytest_collection_modifyitems(items):
    items.append(items[0])

def pytest_runtest_protocol(item):
    if item.name in loses:
        loses.remove(item.name)
        return True
"""
RUN = [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "-p", "no:django", "-p", "no:schemathesis"]


def run(folder, *options, loses=(), fails=None):
    (folder / "conftest.py").write_text(CONFTEST.format(loses=loses))
    (folder / "test_some.py").write_text(TESTS.format(fails=fails))
    words = [*RUN, "-p", "testing.lost", "-n", "1", f"--rootdir={folder}", *options, str(folder)]
    return subprocess.run(words, cwd=BACKEND, capture_output=True, text=True)


@pytest.mark.parametrize("options", [[], ["--maxfail=1"]], ids=["to its end", "to its first failure"])
def test_a_run_that_loses_no_test_ends_as_its_tests_did(tmp_path, options):
    done = run(tmp_path, *options, fails=0)
    assert done.returncode == (2 if options else 1) and "DID NOT RUN" not in done.stdout, done.stdout


@pytest.mark.parametrize("name", ["test_of_some[3]", "test_of_some[0]"], ids=["one", "one of two of the same name"])
def test_a_run_that_loses_a_test_fails_and_names_it(tmp_path, name):
    done = run(tmp_path, loses=[name])
    assert done.returncode == 1, done.stdout
    assert f"1 TESTS WERE COLLECTED AND DID NOT RUN, such as test_some.py::{name}" in done.stdout
