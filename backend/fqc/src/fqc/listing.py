"""A table that fits the terminal: short words stay whole, text wraps, and columns without room are left out and named.

The most important columns come first. Without a terminal there is no width to fit, and nothing is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

_GAP = 2
_WORD = re.compile(r"\d{4}-\d\d-\d\d \S+|\S+")  # a time counts as one word
# Longer words are expressions, lists and digests. They may be broken into pieces no shorter than this.
_LONG, _PIECE = 24, 16
_NUMBER = re.compile(r"-|-?\d+(\.\d+)?(e[+-]\d+)?( ?([KMGT]i)?B|%)?")
_STYLES = {
    "green": {"running", "applied", "done", "ok", "resolved", "ready"},
    "yellow": {
        "changing", "creating", "approved", "applying", "verifying", "pending", "advice", "warning", "previewed",
        "drifted", "pending restart",
    },
    "red": {"failed", "unreachable", "stopped", "blocking", "critical", "rolled_back", "open"},
}  # fmt: skip


@dataclass(frozen=True)
class Listing:
    """A table as a renderable of rich. Rows have a cell for each title."""

    titles: list[str]
    rows: list[list[str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        least = _least(self._columns())
        shown = _fitting(least, options.max_width)
        natural = [max(map(len, column)) for column in self._columns()]
        yield self._drawn(_widths(least[:shown], natural[:shown], options.max_width))
        if left := self.titles[shown:]:
            yield Text(f"No room for {', '.join(left)}: widen the terminal, or use -o yaml.", "dim")

    def _columns(self) -> Iterator[tuple[str, ...]]:
        return zip(self.titles, *self.rows, strict=True)

    def _drawn(self, widths: list[int]) -> Table:
        drawn = Table(box=None, pad_edge=False, header_style="bold", padding=(0, _GAP, 0, 0))
        for (title, *cells), width in zip(self._columns(), widths, strict=False):
            justify = "right" if _is_numeric(cells) else "left"
            drawn.add_column(title, width=width, overflow="fold", justify=justify)  # type: ignore[arg-type]
        for row in self.rows:
            drawn.add_row(*map(styled, row[: len(widths)]))
        return drawn


def styled(text: str) -> Text:
    """Returns the text in colour if it is a word for a state, such as `running` or `failed`."""
    return Text(text, next((style for style, words in _STYLES.items() if text in words), ""))


def _longest_word(text: str) -> int:
    return max(map(len, _WORD.findall(text)), default=0)


def _least(columns: Iterator[tuple[str, ...]]) -> list[int]:
    """Returns the least width of each column: its longest word, or 16 where that exceeds 24. The first column, which
    says what a row is about, is never broken.
    """
    first, *others = (max(map(_longest_word, column)) for column in columns)
    return [first, *(width if width <= _LONG else _PIECE for width in others)]


def _is_numeric(cells: list[str]) -> bool:
    return all(map(_NUMBER.fullmatch, cells)) and any(cell != "-" for cell in cells)


def _fitting(least: list[int], room: int) -> int:
    """Returns how many columns, from the left, fit into `room` at their least widths. At least two, even if they do not
    fit.
    """
    for count in range(len(least), 2, -1):
        if sum(least[:count]) + _GAP * (count - 1) <= room:
            return count
    return min(2, len(least))


def _widths(least: list[int], natural: list[int], room: int) -> list[int]:
    """Returns the widths of the columns: those of their contents, reduced where there is most to spare until they fit
    into `room`, but not below `least`.
    """
    widths = list(natural)
    while sum(widths) + _GAP * (len(widths) - 1) > room:
        spare = [width - bound for width, bound in zip(widths, least, strict=True)]
        if not any(spare):
            break
        widths[spare.index(max(spare))] -= 1
    return widths
