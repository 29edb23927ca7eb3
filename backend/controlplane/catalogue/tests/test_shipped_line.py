"""The 5.7 line as data: complete, consistent, and exact where it matters most."""

from __future__ import annotations

import pytest

from controlplane.catalogue.definition import TYPES
from controlplane.catalogue.line import shipped_lines
from controlplane.catalogue.validation import violations

LINE = shipped_lines()["5.7"]


def test_every_definition_is_whole() -> None:
    assert len(LINE.definitions) >= 120
    for name, definition in LINE.definitions.items():
        assert name == name.lower()
        assert definition.type in TYPES, name
        assert definition.allowed.notation, name
        assert definition.description.endswith("."), name
        assert definition.default is not None, name


def test_every_number_says_what_it_counts() -> None:
    numbers = {name: each for name, each in LINE.definitions.items() if each.type in ("integer", "decimal")}
    assert len(numbers) > 60
    assert [name for name, definition in numbers.items() if not definition.unit] == []


def test_every_literal_default_fits_its_own_definition() -> None:
    wrong = {
        name: violations(definition, definition.default)
        for name, definition in LINE.definitions.items()
        if definition.default is not None and not definition.default.startswith("{")
    }
    assert {name: found for name, found in wrong.items() if found} == {}


@pytest.mark.parametrize(
    ("name", "default", "notation", "divisor", "needs_restart"),
    [
        ("query_cache_type", "0", "[0|1|2]", 1, True),
        ("query_cache_size", "0", "[0-10485760000]", 1024, False),
        ("query_cache_limit", "1048576", "[1-1048576]", 1, False),
        ("query_cache_min_res_unit", "1024", "[512-18446744073709551608]", 512, False),
        ("query_cache_wlock_invalidate", "OFF", "[ON|OFF]", 1, False),
        (
            "innodb_buffer_pool_size",
            "{DBInstanceClassMemory*3/4}",
            "[134217728-{DBInstanceClassMemory*9/10}]",
            1,
            False,
        ),
    ],
)
def test_the_caches_parameters(name: str, default: str, notation: str, divisor: int, needs_restart: bool) -> None:
    definition = LINE.get(name)
    assert definition is not None
    assert (definition.default, definition.allowed.notation) == (default, notation)
    assert (definition.divisor, definition.needs_restart) == (divisor, needs_restart)


def test_names_are_found_in_any_case() -> None:
    assert LINE.get("Query_Cache_Size") is LINE.definitions["query_cache_size"]
