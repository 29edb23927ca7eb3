"""The root command: finds a noun's module by its name, and turns failures into messages and exit codes.

Modules are imported when their noun is called (or listed), so one noun's libraries never slow another down.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from itertools import pairwise
from typing import Any

import typer
from typer.main import get_command

from fqc import __version__, contexts
from fqc.command import Group
from fqc.failure import Exit, Failure
from fqc.output import Format, complain, say

# Command names, and the module whose `app` each is, in the order of the help.
MODULES = {
    "login": "fqc.login",
    "logout": "fqc.logout",
    "whoami": "fqc.whoami",
    "password": "fqc.password",
    "context": "fqc.context",
    "instance": "fqc.instance",
    "class": "fqc.instance_class",
    "param": "fqc.param",
    "line": "fqc.line",
    "template": "fqc.template",
    "cache": "fqc.cache",
    "near": "fqc.near",
    "rules": "fqc.rules",
    "change": "fqc.change",
    "fleet": "fqc.fleet",
    "metrics": "fqc.metrics",
    "alert": "fqc.alert",
    "user": "fqc.user",
    "session": "fqc.session",
    "token": "fqc.token",
    "access-key": "fqc.access_key",
    "settings": "fqc.settings",
    "audit": "fqc.audit",
    "eval": "fqc.evaluate",
}


class Nouns(Group):
    """The root command. Imports the module of a noun only when that noun is called or listed."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(MODULES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in MODULES:
            return None
        found = get_command(import_module(MODULES[cmd_name]).app)
        found.name = cmd_name
        return found


app = typer.Typer(
    cls=Nouns,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"max_content_width": 120},
)


def _version(is_asked: bool) -> None:
    if is_asked:
        typer.echo(f"fqc {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
    form: str = typer.Option(None, "--output", "-o", help="Output format."),
    context: str = typer.Option(None, "--context", help="Context to use."),
    url: str = typer.Option(None, "--url", help="Address of the control plane."),
    token: str = typer.Option(None, "--token", help="Other users can see flags; use FQC_TOKEN instead."),
) -> None:
    """Manage the fast query cache and the parameters of a fleet.

    Exit codes: 0 ok, 1 error, 2 usage, 3 not found, 4 refused by a check, 5 denied, 6 timed out.
    """
    given = {"FQC_OUTPUT": form, "FQC_CONTEXT": context, "FQC_URL": url, "FQC_TOKEN": token}
    # The global options set these variables, so the same option after the command takes precedence.
    os.environ.update({variable: value for variable, value in given.items() if value is not None})


def main() -> None:
    """Runs the command of `sys.argv`. Exits with the code of a failure, which it prints to stderr."""
    if sys.stdout is None:  # the caller has closed it and does not want the result
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    contexts.apply_defaults(contexts.path())
    try:
        _run()
    except Failure as failure:
        complain(failure, _form_of(sys.argv))
        sys.exit(failure.code)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        _end_output(error)
        sys.exit(Exit.ERROR)


def _run() -> None:
    try:
        app(prog_name="fqc")
    finally:
        # Flushed here, where an error can still be reported: pipes and files are only written at the end.
        sys.stdout.flush()


def _end_output(error: OSError) -> None:
    """Reports an error of writing the output, unless it is that the reader of a pipe has closed it. Then discards all
    further output, because the interpreter would fail again when it flushes at exit.
    """
    if not isinstance(error, BrokenPipeError):
        say(f"error: {error}")
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _form_of(arguments: list[str]) -> Format:
    """Returns the format in which an error is printed: a table unless JSON was asked for. Looks for the option itself,
    without parsing the arguments again, since they may be what was wrong.
    """
    joined = {"-ojson", "-o=json", "--output=json"}
    follows = any(flag in ("-o", "--output") and word == "json" for flag, word in pairwise(arguments))
    is_json = follows or joined & set(arguments) or os.environ.get("FQC_OUTPUT") == "json"
    return Format.JSON if is_json else Format.TABLE
