"""The notation of allowed values, including ambiguous cases."""

from __future__ import annotations

import re

import pytest

from controlplane.catalogue.allowed import parse_allowed


@pytest.mark.parametrize(
    ("notation", "minimum", "maximum"),
    [
        ("[0-100]", "0", "100"),
        ("[-1-4194304]", "-1", "4194304"),
        ("[-10--1]", "-10", "-1"),
        ("[0.1-31536000]", "0.1", "31536000"),
        ("[512-18446744073709551608]", "512", "18446744073709551608"),
        ("[134217728-{DBInstanceClassMemory*9/10}]", "134217728", "{DBInstanceClassMemory*9/10}"),
    ],
)
def test_ranges(notation: str, minimum: str, maximum: str) -> None:
    allowed = parse_allowed(notation)
    assert (allowed.minimum, allowed.maximum, allowed.choices, allowed.pattern) == (minimum, maximum, (), None)


@pytest.mark.parametrize(
    ("notation", "choices"),
    [
        ("[0|1|2]", ("0", "1", "2")),
        ("[ON|OFF]", ("ON", "OFF")),
        ("[READ-COMMITTED|REPEATABLE-READ]", ("READ-COMMITTED", "REPEATABLE-READ")),
        ("[|TABLE]", ("", "TABLE")),
    ],
)
def test_choices(notation: str, choices: tuple[str, ...]) -> None:
    assert parse_allowed(notation).choices == choices


@pytest.mark.parametrize("pattern", [".*", "[a-z]+", "SYSTEM|[+-](0[0-9]|1[0-3]):[0-5][0-9]"])
def test_patterns_are_marked_so_that_none_is_taken_for_a_range(pattern: str) -> None:
    allowed = parse_allowed("~" + pattern)
    assert (allowed.pattern, allowed.minimum, allowed.choices) == (pattern, None, ())


def test_nothing_stated_allows_anything() -> None:
    assert parse_allowed("").notation == ""


@pytest.mark.parametrize("notation", ["0-100", "[0-]", "[ON]", "[a-b]", "~[", ".*"])
def test_what_is_no_notation_is_refused(notation: str) -> None:
    with pytest.raises((ValueError, re.error)):
        parse_allowed(notation)
