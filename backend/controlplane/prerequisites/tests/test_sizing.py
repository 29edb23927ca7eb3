import pytest

from controlplane.core.errors import Invalid
from controlplane.parameters.expressions import compile_expression
from controlplane.prerequisites.sizing import cache_size_bytes, knee, reduced_expression

MIB, GIB = 1024**2, 1024**3


@pytest.mark.parametrize(
    ("rule", "facts", "size"),
    [
        ("buffer_pool", {"pool_bytes": 10 * GIB}, GIB),
        ("buffer_pool", {"pool_bytes": 375390208}, 37538816),  # a multiple of 1 KiB
        ("buffer_pool", {"pool_bytes": 200 * GIB}, 10485760000),  # the largest size allowed
        ("result_set", {"pool_bytes": 0, "result_set_bytes": 2560 * MIB}, 512 * MIB),
        ("result_set", {"pool_bytes": 0, "result_set_bytes": 1024}, 1024),
        ("explicit", {"pool_bytes": 0, "size_bytes": 4096}, 4096),
        (
            "curve",
            {"pool_bytes": 0, "curve": [(MIB, 0.2), (2 * MIB, 0.5), (4 * MIB, 0.505), (8 * MIB, 0.506)]},
            2 * MIB,
        ),
    ],
)
def test_a_rule_gives_a_size(rule, facts, size):
    assert cache_size_bytes(rule, **facts) == size


def test_a_curve_that_does_not_exist_yet_is_refused_by_field():
    with pytest.raises(Invalid) as caught:
        cache_size_bytes("curve", pool_bytes=GIB)
    assert caught.value.errors[0].field == "rule"


def test_a_curve_that_never_stops_rising_ends_at_its_last_point():
    assert knee([(1, 0.1), (2, 0.3), (4, 0.6)]) == 4


@pytest.mark.parametrize(
    ("text", "reduced"),
    [
        ("{DBInstanceClassMemory*7/10}", "{DBInstanceClassMemory*63/100}"),
        ("{DBInstanceClassMemory*3/4}", "{DBInstanceClassMemory*27/40}"),
        ("<DBInstanceClassMemory*7/10>", "{DBInstanceClassMemory*63/100}"),
    ],
)
def test_ninety_percent_of_a_simple_share_stays_readable(text, reduced):
    assert reduced_expression(text) == reduced


@pytest.mark.parametrize("text", ["{LEAST(DBInstanceClassMemory/2, 8589934592)}", "{DBInstanceClassMemory/2}"])
def test_ninety_percent_of_anything_is_an_expression_of_that_value(text):
    values = {"DBInstanceClassMemory": 12 * GIB}
    whole = compile_expression(text).evaluate(values)
    assert compile_expression(reduced_expression(text)).evaluate(values) == whole * 9 // 10
