"""How results are printed: tables for people, JSON or YAML for scripts. Results go to stdout, all else to stderr.

Colours are for terminals. Without one a table is as wide as its content, so that a pipe loses nothing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from fqc.failure import Failure

Cell = str | Callable[[dict[str, Any]], Any]
_PIPE_WIDTH = 100_000


class Format(StrEnum):
    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


def console(*, is_stderr: bool = False) -> Console:
    """Returns a console of rich for stdout or stderr. Without a terminal, lines are never wrapped.

    It prints brackets and colons of a text as they are: a rules file has lines such as `[[rule]]`.
    """
    from rich.console import Console

    stream = sys.stderr if is_stderr else sys.stdout
    width = None if stream.isatty() else _PIPE_WIDTH
    plain = {"highlight": False, "markup": False, "emoji": False}
    return Console(stderr=is_stderr, width=width, soft_wrap=not stream.isatty(), **plain)


def emit(data: Any, form: Format, people: Callable[[Any], RenderableType]) -> None:
    """Prints a result to stdout: `data` as JSON or YAML, or, for a table, what `people` makes of it."""
    if form is Format.JSON:
        print(json.dumps(data, indent=2, ensure_ascii=False))
    elif form is Format.YAML:
        import yaml

        print(yaml.safe_dump(data, sort_keys=False, allow_unicode=True), end="")
    else:
        _print(people(data))


def _print(shown: RenderableType) -> None:
    """Prints to stdout, without the blanks that fill up the last column of a table."""
    out = console()
    with out.capture() as captured:
        out.print(shown)
    print("\n".join(line.rstrip(" ") for line in captured.get().split("\n")), end="")


def say(words: str) -> None:
    """Prints to stderr what is not the result: progress, hints and warnings."""
    print(words, file=sys.stderr)


def complain(failure: Failure, form: Format) -> None:
    """Prints a failure to stderr. As JSON it is the API's problem document, if the failure is from the API."""
    if form is Format.JSON and failure.problem:
        say(json.dumps(failure.problem, indent=2))
        return
    from rich.text import Text

    err = console(is_stderr=True)
    err.print(Text("error: ", "bold red") + Text(failure.message), soft_wrap=True)
    if failure.hint:
        err.print(Text(failure.hint), soft_wrap=True)
    if failure.problem:
        err.print(Text(f"({failure.problem['code']}, request {failure.problem['request_id']})", "dim"), soft_wrap=True)


def table(columns: Mapping[str, Cell], items: Iterable[dict[str, Any]], *, none: str = "none") -> RenderableType:
    """Returns a table of the items, or the text `none` if there are none. A cell is the key of an item, or a function
    that takes the item.
    """
    from fqc.listing import Listing

    rows = [[written(_value(item, cell)) for cell in columns.values()] for item in items]
    return Listing(list(columns), rows) if rows else none


def facts(columns: Mapping[str, Cell], item: dict[str, Any]) -> RenderableType:
    """Returns one object as lines of a title and a value."""
    from rich.table import Table

    from fqc.listing import styled

    drawn = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    drawn.add_column(style="bold", no_wrap=True)
    drawn.add_column(overflow="fold")
    for title, cell in columns.items():
        drawn.add_row(title.capitalize() if title.isupper() else title, styled(written(_value(item, cell))))
    return drawn


def request(sent: dict[str, Any]) -> RenderableType:
    """Returns the text of a dry run: the request that would be sent."""
    from rich.text import Text

    body = "" if sent["body"] is None else "\n" + json.dumps(sent["body"], indent=2, ensure_ascii=False)
    return Text(f"would send {sent['method']} {sent['path']}{body}")


def stacked(*parts: RenderableType | None) -> RenderableType:
    """Returns the parts one below the other. Those that are None are left out."""
    from rich.console import Group

    return Group(*(part for part in parts if part is not None))


def _value(item: dict[str, Any], cell: Cell) -> Any:
    return cell(item) if callable(cell) else item.get(cell)


def written(value: Any) -> str:
    """Returns a value as text for people: `-` for none, yes or no, and lists and objects on one line."""
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1_000_000 else f"{value:.0f}"
    if isinstance(value, dict):
        return ", ".join(f"{name}={inner}" for name, inner in value.items()) or "-"
    if isinstance(value, list):
        return ", ".join(map(written, value)) or "-"
    return str(value)
