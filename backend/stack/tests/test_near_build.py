"""A stack that builds `fqc-near` while it already runs."""

import json
import os
import shlex
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from stack import near_build, record
from stack.layout import NEAR_PROGRAM, RunDir
from stack.process import Identity, marked
from stack.tests.test_stack import run
from stack.waiting import wait_until


@dataclass(frozen=True)
class Building:
    """A stack of one server, with a build of `fqc-near` that waits until the test creates the file `may_go_on`."""

    folder: Path

    @property
    def run_dir(self) -> RunDir:
        return RunDir(self.folder / "run")

    @property
    def program(self) -> Path:
        return self.folder / "fqc-near"

    @property
    def may_go_on(self) -> Path:
        return self.folder / "go"

    def stack(self, *words: str) -> Any:
        return run(words[0], "--run-dir", str(self.run_dir.root), *words[1:], FQC_NEAR_PROGRAM=str(self.program))

    def up(self, build: str = "") -> dict[str, Any]:
        done = self.stack("up", "--ports", "auto", "--count", "1", "--json", "--near-build", build)
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    def waiting_build(self) -> str:
        copy = f"cp {NEAR_PROGRAM} {self.program}.new && mv {self.program}.new {self.program}"
        script = f"until test -e {self.may_go_on}; do sleep 0.1; done; {copy}"
        return f"sh -c {shlex.quote(script)}"

    def status(self) -> str:
        done = self.stack("status")
        assert done.returncode == 0, done.stdout
        return str(done.stdout)

    def running(self) -> dict[str, Identity]:
        return record.load(self.run_dir.record).running()


@pytest.fixture(scope="module")
def building() -> Iterator[Building]:
    with tempfile.TemporaryDirectory(prefix="fqc-stack-") as folder:
        found = Building(Path(folder))
        try:
            yield found
        finally:
            assert found.stack("down").returncode == 0


def test_the_first_page_does_not_wait_for_it_and_it_is_started_once_it_is_built(building: Building) -> None:
    up = building.up(building.waiting_build())
    assert (up["near_cache"], up["is_near_being_built"]) == (None, True)
    before = building.running()
    assert "near" not in before
    assert "near-build   being built, pid" in building.status()
    again = building.up(building.waiting_build())
    assert (again["is_near_being_built"], building.running()) == (True, before)
    building.may_go_on.touch()
    assert wait_until(lambda: near_build.NAME not in building.running(), 120)
    assert "near" in building.running(), building.run_dir.log(near_build.NAME).read_text()
    assert "being built" not in building.status()
    up = building.up()
    assert (up["near_cache"]["instance"], up["is_near_being_built"]) == (up["instances"][0]["name"], False)


def test_a_newer_program_replaces_the_near_cache_alone(building: Building) -> None:
    before = building.running()
    os.utime(building.program, (1, 1))
    building.up()
    after = building.running()
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] != before[name]} == {"near"}


def test_a_build_that_fails_says_so_until_one_succeeds(building: Building) -> None:
    building.up("false")
    assert wait_until(lambda: near_build.NAME not in building.running(), 120)
    assert "near-build   not built: it failed" in building.status()
    assert "make near" in building.run_dir.log(near_build.NAME).read_text()
    building.up("true")
    assert wait_until(lambda: near_build.NAME not in building.running(), 120)
    assert "near-build" not in building.status()


def test_down_ends_a_build_that_is_at_work_with_all_that_it_started(building: Building) -> None:
    building.may_go_on.unlink()
    building.up(building.waiting_build())
    assert near_build.NAME in building.running()
    assert building.stack("down").returncode == 0
    assert marked(record.load(building.run_dir.record).stack_id) == []
    assert not building.run_dir.near_build.exists()
