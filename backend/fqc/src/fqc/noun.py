"""Commands of one noun. Each gets the common options of its sort without repeating them in its signature.

`read` shows, `watch` shows again and again, `write` alters a record of the control plane, `change` makes a change set.
A command's first parameter is its `Call`; typer sees the command's own parameters and those of its sort.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from fqc.call import Call
from fqc.output import Format

Command = Callable[..., Any]
_COMMON = "Common options"

READ: dict[str, tuple[Any, Any]] = {
    "form": (
        Annotated[
            Format,
            typer.Option(
                "--output", "-o", envvar="FQC_OUTPUT", help="For people or for scripts.", rich_help_panel=_COMMON
            ),
        ],
        Format.TABLE,
    ),
    "context": (
        Annotated[
            str | None,
            typer.Option("--context", envvar="FQC_CONTEXT", help="One that you logged in to.", rich_help_panel=_COMMON),
        ],
        None,
    ),
    "url": (
        Annotated[
            str | None,
            typer.Option("--url", envvar="FQC_URL", help="Address of the control plane.", rich_help_panel=_COMMON),
        ],
        None,
    ),
    "token": (
        Annotated[
            str | None,
            typer.Option("--token", envvar="FQC_TOKEN", help="Better in the environment.", rich_help_panel=_COMMON),
        ],
        None,
    ),
}
WATCH = {
    "is_watching": (Annotated[bool, typer.Option("--watch", "-w", help="Show it again until Ctrl-C.")], False),
    "interval_seconds": (Annotated[float, typer.Option("--interval", min=0.2, help="Seconds between looks.")], 2.0),
}
DRY_RUN = {
    "is_dry_run": (Annotated[bool, typer.Option("--dry-run", help="Say what would happen; alter nothing.")], False)
}
SURE = {"is_sure": (Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")], False)}
WAIT = {
    "is_waiting": (Annotated[bool, typer.Option("--wait", help="Until it has ended; say how far it is.")], False),
    "timeout_seconds": (Annotated[float, typer.Option("--timeout", help="Seconds to wait; then exit with 6.")], 600.0),
}
CHANGE = {
    "at": (Annotated[str | None, typer.Option("--at", help="At this time: 2026-11-20T22:00Z.")], None),
    "in_window": (Annotated[bool, typer.Option("--window", help="In the instance's maintenance window.")], False),
    "is_kept": (Annotated[bool, typer.Option("--preview", help="Leave it previewed, for somebody to approve.")], False),
    "note": (Annotated[str, typer.Option("--note", help="Why; kept with the change.")], ""),
}


class Noun(typer.Typer):
    def __init__(self, words: str) -> None:
        super().__init__(help=words, no_args_is_help=True, rich_markup_mode=None, add_completion=False)

        @self.callback()
        def group() -> None:
            """Keeps a noun of a single command a noun."""

        self.info.help = words
        if self.registered_callback:
            self.registered_callback.help = words

    def read(self, name: str) -> Callable[[Command], Command]:
        return self._add(name, READ)

    def watch(self, name: str) -> Callable[[Command], Command]:
        return self._add(name, READ | WATCH, watched)

    def write(self, name: str) -> Callable[[Command], Command]:
        return self._add(name, READ | DRY_RUN)

    def removal(self, name: str) -> Callable[[Command], Command]:
        return self._add(name, READ | DRY_RUN | SURE)

    def change(self, name: str) -> Callable[[Command], Command]:
        return self._add(name, READ | DRY_RUN | SURE | WAIT | CHANGE)

    def decision(self, name: str) -> Callable[[Command], Command]:
        return self._add(name, READ | DRY_RUN | SURE | WAIT)

    def operation(self, name: str) -> Callable[[Command], Command]:
        """A write that takes a while, without a question."""
        return self._add(name, READ | DRY_RUN | WAIT)

    def _add(self, name: str, options: dict[str, Any], around: Callable[[Command], Command] | None = None) -> Any:
        def register(function: Command) -> Command:
            self.command(name)(with_options(function, options, around))
            return function

        return register


def single(
    name: str, function: Command, options: dict[str, Any], around: Callable[[Command], Command] | None = None
) -> typer.Typer:
    """A command that stands alone, without a noun."""
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(name)(with_options(function, options, around))
    return app


def with_options(
    function: Command, options: dict[str, Any], around: Callable[[Command], Command] | None = None
) -> Command:
    own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]
    inner = around(function) if around else function
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, (annotation, default) in options.items()
    ]

    @functools.wraps(function)
    def run(**given: Any) -> Any:
        return inner(Call(**{name: given.pop(name) for name in options}), **given)

    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in own] + more
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run


def watched(function: Command) -> Command:
    def run(call: Call, **given: Any) -> None:
        if call.is_watching:
            from fqc.watching import repeat

            repeat(lambda: function(call, **given), call)
        else:
            function(call, **given)

    return run
