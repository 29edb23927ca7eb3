"""Commands of one noun. A decorator of `Noun` gives a command the options that all commands of its kind have.

`read` shows, `watch` can show repeatedly, `write` and `removal` change a record of the control plane, `change` creates
a change set, `approval` and `decision` act on one. The first parameter of a command is its `Call`; typer sees the
command's other parameters and the common options.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import typer

from fqc import command
from fqc.call import Call
from fqc.options import CHANGE, DRY_RUN, READ, SURE, TIMING, WAIT, WATCH, Options

Command = Callable[..., Any]


class Noun(typer.Typer):
    """The commands of one noun. `words` is its help."""

    def __init__(self, words: str) -> None:
        super().__init__(
            cls=command.Group, help=words, no_args_is_help=True, rich_markup_mode=None, add_completion=False
        )

        @self.callback(help=words)
        def group() -> None:
            """Makes typer keep the noun as a word of its own, even if it has only one command."""

    def read(self, name: str) -> Callable[[Command], Command]:
        """Registers a command that only shows something."""
        return self._add(name, READ)

    def watch(self, name: str) -> Callable[[Command], Command]:
        """Registers a command that shows something, repeatedly with --watch."""
        return self._add(name, READ | WATCH, watched)

    def write(self, name: str) -> Callable[[Command], Command]:
        """Registers a command that changes a record of the control plane. It has --dry-run, which it must heed."""
        return self._add(name, READ | DRY_RUN)

    def removal(self, name: str) -> Callable[[Command], Command]:
        """Registers a command that removes something, with --dry-run and --yes."""
        return self._add(name, READ | DRY_RUN | SURE)

    def change(self, name: str) -> Callable[[Command], Command]:
        """Registers a command that creates a change set, with the options on when it runs and whether to wait."""
        return self._add(name, READ | DRY_RUN | SURE | WAIT | CHANGE)

    def approval(self, name: str) -> Callable[[Command], Command]:
        """Registers a command that approves a change set, with the options on when it runs and whether to wait."""
        return self._add(name, READ | DRY_RUN | SURE | WAIT | TIMING)

    def decision(self, name: str) -> Callable[[Command], Command]:
        """Registers a command that acts on a change set at once, with --dry-run, --yes and --wait."""
        return self._add(name, READ | DRY_RUN | SURE | WAIT)

    def _add(self, name: str, options: Options, around: Callable[[Command], Command] | None = None) -> Any:
        def register(function: Command) -> Command:
            self.command(name, cls=command.Command)(with_options(function, options, around))
            return function

        return register


def single(
    name: str, function: Command, options: Options, around: Callable[[Command], Command] | None = None
) -> typer.Typer:
    """Returns an application with one command that belongs to no noun, such as `fqc login`."""
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command(name, cls=command.Command)(with_options(function, options, around))
    return app


def with_options(function: Command, options: Options, around: Callable[[Command], Command] | None = None) -> Command:
    """Returns the command with the common `options` added to its own parameters, as typer expects it. Called, it passes
    the values of the common options as a `Call`, its first argument.
    """
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
    """Returns a command that calls `function` repeatedly with --watch, until Ctrl-C, and otherwise once."""

    def run(call: Call, **given: Any) -> None:
        if call.is_watching:
            from fqc.watching import repeat

            repeat(lambda: function(call, **given), call)
        else:
            function(call, **given)

    return run
