"""Documented expressions and what they resolve to on three instance classes."""

import pytest

from controlplane.parameters.expressions import compile_expression

GIB = 1024**3
LARGE = {"DBInstanceClassMemory": 12 * GIB, "DBInstanceClassCPU": 4}
SMALL = {"DBInstanceClassMemory": 1 * GIB, "DBInstanceClassCPU": 1}
# 1 GiB less the managed service's reserve of 65 %.
RESERVED = {"DBInstanceClassMemory": GIB - GIB * 65 // 100, "DBInstanceClassCPU": 1}

# M stands for DBInstanceClassMemory, C for DBInstanceClassCPU.
EXAMPLES = [
    ("{M*3/4}", 9663676416, 805306368, 281857229),
    ("{M*7/10}", 9019431321, 751619276, 263066747),
    ("{M*63/100}", 8117488189, 676457349, 236760072),
    ("{M*7/100}", 901943132, 75161927, 26306674),
    ("{LEAST(M/1073741824, 8)}", 8, 1, 0),
    ("{LEAST(M/1073741824, 16)}", 12, 1, 0),
    ("{LEAST(M/1073741824*256, 2048)}", 2048, 256, 0),
    ("{LEAST(M/1073741824*512, 2048)}", 2048, 512, 0),
    ("{LEAST(M/1073741824*1024, 20000)}", 12288, 1024, 0),
    ("{LEAST(M/1048576*128, 262144)}", 262144, 131072, 45824),
    ("{LEAST(M/1048576/8, 8192)}", 1536, 128, 44),
    ("{LEAST(C*500, 8000)}", 2000, 500, 500),
    ("{LEAST(M/8589934592, 1)}", 1, 0, 0),
    ("LEAST({M/256},10485760)", 10485760, 4194304, 1468006),
    ("GREATEST({M/9868951},80)", 1305, 108, 80),
    ("{GREATEST(M/1048576/128, 262144)}", 262144, 262144, 262144),
    ("{M/12582880}", 1024, 85, 29),
    ("{SUM(M/1073741824, C)}", 16, 2, 1),
    ("{M/32}", 402653184, 33554432, 11744051),
]


def spelled(short: str) -> str:
    """Expand the table's one-letter names; no function name contains them as a word."""
    names = {"M": "DBInstanceClassMemory", "C": "DBInstanceClassCPU"}
    for letter, name in names.items():
        for before in "{(":
            short = short.replace(before + letter, before + name)
        short = short.replace(f", {letter})", f", {name})")
    return short


@pytest.mark.parametrize(("short", "large", "small", "reserved"), EXAMPLES)
def test_documented_examples(short: str, large: int, small: int, reserved: int) -> None:
    expression = compile_expression(spelled(short))
    values = [expression.evaluate(of) for of in (LARGE, SMALL, RESERVED)]
    assert values == [large, small, reserved]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{7/2*2}", 6),
        ("{7*2/2}", 7),
        ("{7/{2*2}}", 1),
        ("{100/7/2}", 7),
        ("{18446744073709551615*18446744073709551615}", 18446744073709551615**2),
        ("{SUM(1, 2, {3*4})}", 15),
        ("{GREATEST(LEAST(9, 4), SUM(1, 2))*2}", 8),
        ("{SUM(5)}", 5),
        ("\t{ 6 * 7 } ", 42),
    ],
)
def test_arithmetic_truncates_each_division_and_never_overflows(text: str, value: int) -> None:
    assert compile_expression(text).evaluate({}) == value


@pytest.mark.parametrize("depth", [1, 32])
def test_nesting_up_to_the_limit_is_evaluated(depth: int) -> None:
    assert compile_expression("{" * depth + "5" + "}" * depth).evaluate({}) == 5
