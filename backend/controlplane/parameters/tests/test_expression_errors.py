"""Every refusal names the column, what stands there and what should."""

import pytest

from controlplane.parameters.expressions import (
    EvaluationError,
    ExpressionError,
    ExpressionSyntaxError,
    compile_expression,
)

SYNTAX = [
    ("", 1, "the end of the expression", "'{' or a function"),
    ("{DBInstanceClassMemory*0.75}", 24, "'0.75'", "an integer"),
    ("{DBInstanceClassMemory*.5}", 24, "'.5'", "an integer"),
    ("{DBInstanceClassMemory+1024}", 23, "'+'", "'*', '/', '}' or a value"),
    ("{LEAST(DBInstanceClassMemory,,8)}", 30, "','", "an integer, a variable, a function or '{'"),
    ("{LEAST()}", 8, "')'", "an integer, a variable, a function or '{'"),
    ("{LEAST 8}", 8, "'8'", "'('"),
    ("{LEAST(8}", 9, "'}'", "'*', '/', ',' or ')'"),
    ("{MAX(1,2)}", 2, "'MAX'", "an integer, a variable, a function or '{'"),
    ("{dbinstanceclassmemory}", 2, "'dbinstanceclassmemory'", "an integer, a variable, a function or '{'"),
    ("DBInstanceClassMemory*3/4", 1, "'DBInstanceClassMemory'", "'{' or a function"),
    ("{DBInstanceClassMemory*3/4", 27, "the end of the expression", "'*', '/' or '}'"),
    ("{DBInstanceClassMemory}*2", 24, "'*'", "the end of the expression"),
    ("<8}", 3, "'}'", "'*', '/' or '>'"),
    ("{8>", 3, "'>'", "'*', '/' or '}'"),
    ("{8*}", 4, "'}'", "an integer, a variable, a function or '{'"),
    ("{8 8}", 4, "'8'", "'*', '/' or '}'"),
    ("{8;DROP TABLE t}", 3, "';'", "'*', '/', '}' or a value"),
    ("{٣}", 2, "'٣'", "'*', '/', '}' or a value"),
    ("{1\x00}", 3, r"'\x00'", "'*', '/', '}' or a value"),
    ("{" * 33 + "5" + "}" * 33, 33, "'{'", "at most 32 levels of nesting"),
    ("{" + "9" * 41 + "}", 2, "a number of 41 digits", "at most 40 digits"),
    ("{" + "8*" * 600 + "8}", 1025, "1203 characters", "at most 1024 characters"),
]


@pytest.mark.parametrize(("text", "column", "found", "expected"), SYNTAX)
def test_syntax_errors_point_at_the_column(text: str, column: int, found: str, expected: str) -> None:
    with pytest.raises(ExpressionSyntaxError) as error:
        compile_expression(text)
    assert (error.value.column, error.value.found, error.value.expected) == (
        column,
        found,
        expected,
    )


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("{8*0.75}", "write a fraction: *3/4 instead of *0.75"),
        ("{8+1}", "SUM(a, b) adds"),
        ("{dbinstanceclasscpu}", "case-sensitive: DBInstanceClassCPU"),
        ("DBInstanceClassCPU", "put the expression in braces"),
    ],
)
def test_likely_mistakes_come_with_a_hint(text: str, hint: str) -> None:
    with pytest.raises(ExpressionError, match="column") as error:
        compile_expression(text)
    assert hint in str(error.value)


@pytest.mark.parametrize(
    ("text", "column"),
    [("{8/0}", 4), ("{8/{2/4}}", 4), ("{8/DBInstanceClassCPU}", 4), ("{4/2/0*3}", 6)],
)
def test_division_by_zero_points_at_the_divisor(text: str, column: int) -> None:
    with pytest.raises(EvaluationError) as error:
        compile_expression(text).evaluate({"DBInstanceClassCPU": 0})
    assert error.value.column == column


def test_a_variable_without_a_value_is_named() -> None:
    with pytest.raises(EvaluationError, match="column 4: found AllocatedStorage without"):
        compile_expression("{8*AllocatedStorage}").evaluate({"DBInstanceClassCPU": 1})
