"""The call of one command: the values of its common options, the API, and how results are shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fqc import contexts, output
from fqc.output import Cell, Format

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fqc.api import Api


@dataclass
class Call:
    """The values of the common options in one call of a command; see `options` for what each means. The first parameter
    of every command.
    """

    form: Format = Format.TABLE
    context: str | None = None
    url: str | None = None
    token: str | None = field(default=None, repr=False)
    is_watching: bool = False
    interval_seconds: float = 2.0
    is_dry_run: bool = False
    is_sure: bool = False
    is_waiting: bool = False
    timeout_seconds: float = 600.0
    at: str | None = None
    in_window: bool = False
    is_kept: bool = False
    note: str = ""

    @cached_property
    def chosen(self) -> contexts.Context:
        """The control plane to talk to, from the options, the environment and the stored contexts. Raises a Failure if
        none is configured.
        """
        return contexts.choose(contexts.load(contexts.path()), name=self.context, url=self.url, token=self.token)

    @cached_property
    def api(self) -> Api:
        """The API of the chosen control plane. Nothing is sent until it is used."""
        from fqc.api import Api

        return Api(self.chosen)

    def show(self, data: Any, people: Callable[[Any], Any]) -> None:
        """Prints a result to stdout: `data` itself as JSON or YAML, or, as a table, what `people` makes of it."""
        output.emit(data, self.form, people)

    def show_items(self, items: Iterable[dict[str, Any]], columns: Mapping[str, Cell]) -> None:
        """Prints a list. `columns` gives for each title the key of an item, or a function that takes the item."""
        self.show(list(items), lambda found: output.table(columns, found))

    def show_facts(self, item: dict[str, Any], columns: Mapping[str, Cell]) -> None:
        """Prints one object, with a line for each title. `columns` gives for a title the key of a value, or a function
        that takes the object.
        """
        self.show(item, lambda found: output.facts(columns, found))

    def would(self, method: str, path: str, body: Any = None) -> None:
        """Prints the request that a write would send, for a dry run. `path` is below /api/v1/."""
        self.show({"method": method, "path": f"/api/v1/{path}", "body": body}, output.request)
