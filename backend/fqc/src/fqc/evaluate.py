"""`fqc eval`: the value of an expression on an instance class."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fqc.call import Call
from fqc.change_view import FINDINGS
from fqc.failure import Exit, Failure
from fqc.instance_class import find
from fqc.noun import single
from fqc.options import READ
from fqc.output import stacked, table


def evaluate(
    call: Call,
    expression: Annotated[str, typer.Argument(help="'{DBInstanceClassMemory*63/100}'", show_default=False)],
    instance_class: Annotated[str | None, typer.Option("--class", help="Class to use; see fqc class list.")] = None,
    parameter: Annotated[str | None, typer.Option(help="Check the value against this parameter.")] = None,
    engine_line: Annotated[
        str | None, typer.Option("--line", help="Server line of that parameter; default: that of most instances.")
    ] = None,
    instance: Annotated[str | None, typer.Option(help="Instance it is for; instead of --class and --line.")] = None,
) -> None:
    """Show what an expression resolves to.

    Exit code 2: not a valid expression; 4: the parameter does not allow the value.
    """
    body: dict[str, Any] = {"expression": expression, **({"engine_line": engine_line} if engine_line else {})}
    body["variables"] = find(call, instance_class)["variables"] if instance_class else {}
    body |= {"parameter": parameter} if parameter else {}
    body |= {"instance": instance} if instance else {}
    found = call.api.post("expressions/evaluate", body)
    if found["error"]:
        hint = _next(found["error"], has_size=bool(instance_class or instance))
        raise Failure(pointed(expression, found["error"]), Exit.USAGE, hint=hint)
    call.show(found, _view)
    if any(each["severity"] == "blocking" for each in found["findings"]):
        raise Failure(f"{parameter} does not allow this value.", Exit.REFUSED)


def pointed(expression: str, error: dict[str, Any]) -> str:
    """Returns the expression with a mark in the line below it, under the column of the error."""
    mark = " " * (error["column"] - 1) + "^"
    return f"column {error['column']}: found {error['found']}, expected {error['expected']}\n  {expression}\n  {mark}"


def _next(error: dict[str, Any], *, has_size: bool) -> str:
    if error["code"] != "expression_has_no_value":
        return str(error["hint"])
    return "This class has no value for it: see fqc class list." if has_size else "Name a class with --class."


def _view(found: dict[str, Any]) -> Any:
    findings = ["", table(FINDINGS, found["findings"])] if found["findings"] else []
    return stacked(found["value"], *findings)


app = single("eval", evaluate, READ)
