"""The next command reads what the previous one wrote; two commands at once are refused."""

import os
from pathlib import Path

import pytest

from stack import record
from stack.ports import Ports
from stack.problem import Problem
from stack.process import identify


def test_a_record_survives_the_way_to_disk(tmp_path: Path) -> None:
    me = identify(os.getpid())
    assert me is not None
    written = record.Record(ports=Ports(1, 2), fleet_size=2, revision="r", processes={"web": me})
    record.save(tmp_path / "stack.json", written)
    assert record.load(tmp_path / "stack.json") == written
    assert written.running() == {"web": me}


def test_a_damaged_record_says_which_file_and_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "stack.json"
    path.write_text("{")
    with pytest.raises(Problem, match=rf"{path} is damaged .* remove it"):
        record.load(path)


def test_two_commands_on_one_run_directory_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with record.locked(path), pytest.raises(Problem, match="another stack command"), record.locked(path):
        pass
