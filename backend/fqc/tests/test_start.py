"""Behaviour without a control plane: help, completion, usage errors, exit codes, and modules that are not loaded."""

import re
from pathlib import Path

import pytest
from conftest import Fqc, loaded

from fqc.app import MODULES
from fqc.failure import Exit


@pytest.mark.parametrize("noun", MODULES)
def test_every_noun_has_help_with_a_purpose(bare: Fqc, noun: str) -> None:
    shown = bare(noun, "--help")
    assert shown.code == 0, shown.err
    assert f"Usage: fqc {noun}" in shown.out


def test_the_root_help_lists_nouns_and_exit_codes(bare: Fqc) -> None:
    shown = bare("--help").out
    assert all(f"\n  {noun} " in shown for noun in MODULES)
    assert "4 refused by a check" in shown


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (("--version",), {"httpx", "rich", "yaml", "pydantic", "fqc.instance"}),
        (("--help",), {"httpx", "rich", "yaml", "pydantic"}),
        (("instance", "list", "--help"), {"httpx", "rich", "yaml", "pydantic", "fqc.param"}),
    ],
)
def test_a_start_loads_only_what_it_needs(arguments: tuple[str, ...], absent: set[str]) -> None:
    assert not absent & loaded(*arguments, HOME="/nonexistent")


def test_the_help_fits_eighty_columns_and_cuts_no_purpose_short(bare: Fqc) -> None:
    for noun in ("", *MODULES):
        lines = bare(*noun.split(), "--help", COLUMNS="80").out.splitlines()
        assert max(map(len, lines)) <= 80
        assert not [line for line in lines if line.endswith("...") and not line.startswith("Usage")]


def test_options_have_defaults_in_words_and_arguments_no_braces(bare: Fqc) -> None:
    shown = bare("cache", "enable", "--help").out
    assert "Usage: fqc cache enable INSTANCE [OPTIONS]" in shown
    assert "--rule buffer_pool|result_set|curve|explicit" in shown
    assert "[default: 600]" in shown


def test_a_number_out_of_its_range_is_a_usage_error(bare: Fqc) -> None:
    assert bare("change", "list", "--limit", "0").code == 2
    assert bare("change", "list", "--limit", "many").code == 2


def test_every_exit_code_is_documented_where_people_look(bare: Fqc) -> None:
    help_text = " ".join(bare("--help").out.split())
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    documented = re.findall(r"^\| (\d) \| (\w+)", readme, flags=re.MULTILINE)
    assert [int(code) for code, _ in documented] == list(Exit)
    assert all(f"{code} {first}" in help_text for code, first in documented)


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


def test_an_address_without_a_scheme_is_a_usage_error(bare: Fqc) -> None:
    refused = bare("instance", "list", FQC_URL="fqc.internal")
    assert refused.code == 2
    assert "fqc.internal is not an address: it must begin with http:// or https://." in refused.err
