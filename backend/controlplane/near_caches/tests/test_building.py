"""The control plane knows whether the stack on this machine is building `fqc-near`, and shows it at the instance."""

import fcntl
import json
from pathlib import Path
from typing import Any

import pytest

from controlplane.metrics.tests.fleet import instance_make
from controlplane.near_caches.building import NAME, near_build
from controlplane.prerequisites.near_caches import build_findings


@pytest.fixture
def file(settings: Any, tmp_path: Path) -> Path:
    settings.RUN_DIR = tmp_path
    return tmp_path / NAME


def write(file: Path, *, has_failed: bool) -> None:
    file.write_text(json.dumps({"before": "demo-1", "has_failed": has_failed}))


def test_where_no_stack_builds_there_is_nothing_to_tell(file: Path) -> None:
    assert near_build("demo-1") is None


def test_it_is_being_built_while_somebody_holds_the_lock_and_no_longer(file: Path) -> None:
    write(file, has_failed=False)
    with file.open() as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert near_build("demo-1") == "building"
        assert near_build("demo-2") is None
    assert near_build("demo-1") is None  # the build was killed


def test_a_build_that_failed_is_told(file: Path) -> None:
    write(file, has_failed=True)
    assert near_build("demo-1") == "failed"


def test_a_file_that_is_being_written_is_no_error(file: Path) -> None:
    file.write_text("{")
    assert near_build("demo-1") is None


@pytest.mark.django_db
def test_the_instance_that_it_will_stand_before_says_so(file: Path) -> None:
    write(file, has_failed=False)
    local, external = instance_make(name="demo-1", provider="local"), instance_make(name="demo-1-old")
    with file.open() as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        assert [each.code for each in build_findings(local)] == ["near_being_built"]
        assert build_findings(external) == []
    write(file, has_failed=True)
    (failed,) = build_findings(local)
    assert (failed.code, failed.is_blocking) == ("near_build_failed", False)
