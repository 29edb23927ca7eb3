"""What needs no control plane: help, completion, usage errors, and what a start does not load."""

import subprocess
import sys

import pytest
from conftest import Fqc

from fqc.app import MODULES


@pytest.mark.parametrize("noun", MODULES)
def test_every_noun_has_help_with_a_purpose(bare: Fqc, noun: str) -> None:
    shown = bare(noun, "--help")
    assert shown.code == 0, shown.err
    assert f"Usage: fqc {noun}" in shown.out


def test_the_root_help_lists_nouns_and_exit_codes(bare: Fqc) -> None:
    shown = bare("--help").out
    assert all(f"\n  {noun} " in shown for noun in MODULES)
    assert "4 refused by a check" in shown


def test_help_loads_neither_http_nor_tables() -> None:
    program = "import sys; from fqc.app import app; app(['instance', 'list', '--help'], standalone_mode=False);"
    program += "print(sorted({'httpx', 'rich', 'yaml', 'fqc.param'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_completion_script(bare: Fqc, shell: str) -> None:
    script = bare(_FQC_COMPLETE=f"source_{shell}")
    assert script.code == 0
    assert f"_FQC_COMPLETE=complete_{shell}" in script.out


def test_completion_knows_nouns_and_their_commands(bare: Fqc) -> None:
    nouns = bare(_FQC_COMPLETE="complete_bash", COMP_WORDS="fqc inst", COMP_CWORD="1")
    assert nouns.out.split() == ["instance"]
    commands = bare(_FQC_COMPLETE="complete_bash", COMP_WORDS="fqc instance res", COMP_CWORD="2")
    assert commands.out.split() == ["restart", "resize"]


@pytest.mark.parametrize("wrong", [("nonsense",), ("instance", "show"), ("instance", "list", "-o", "xml")])
def test_wrong_usage_ends_with_2(bare: Fqc, wrong: tuple[str, ...]) -> None:
    assert bare(*wrong).code == 2


def test_without_a_control_plane_it_says_what_to_do(bare: Fqc) -> None:
    lost = bare("instance", "list")
    assert lost.code == 2
    assert "fqc login" in lost.err


def test_an_address_that_does_not_answer_is_an_error(bare: Fqc) -> None:
    lost = bare("instance", "list", FQC_URL="http://127.0.0.1:9")
    assert lost.code == 1
    assert "cannot be reached" in lost.err
