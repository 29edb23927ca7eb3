"""The options that several commands have in common, by kind of command. Each is a field of `Call`, with annotation and
default.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fqc.output import Format

Options = dict[str, tuple[Any, Any]]


def _from(flags: tuple[str, ...], variable: str, words: str) -> Any:
    return typer.Option(*flags, envvar=variable, help=f"{words} [{variable}]")


READ: Options = {
    "form": (Annotated[Format, _from(("--output", "-o"), "FQC_OUTPUT", "Output format.")], Format.TABLE),
    "context": (Annotated[str | None, _from(("--context",), "FQC_CONTEXT", "Context to use.")], None),
    "url": (Annotated[str | None, _from(("--url",), "FQC_URL", "Address of the control plane.")], None),
    "token": (
        Annotated[str | None, _from(("--token",), "FQC_TOKEN", "Other users can see flags; use FQC_TOKEN instead.")],
        None,
    ),
}
WATCH: Options = {
    "is_watching": (Annotated[bool, typer.Option("--watch", "-w", help="Refresh until Ctrl-C.")], False),
    "interval_seconds": (Annotated[float, typer.Option("--interval", min=0.2, help="Seconds between updates.")], 2.0),
}
DRY_RUN: Options = {
    "is_dry_run": (Annotated[bool, typer.Option("--dry-run", help="Show what would happen; change nothing.")], False)
}
SURE: Options = {"is_sure": (Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")], False)}
WAIT: Options = {
    "is_waiting": (Annotated[bool, typer.Option("--wait", help="Wait until it has ended, showing progress.")], False),
    "timeout_seconds": (
        Annotated[float, _from(("--timeout",), "FQC_TIMEOUT", "Maximum time to wait.")],
        600.0,
    ),
}
TIMING: Options = {
    "at": (Annotated[str | None, typer.Option("--at", help="Run at this time, for example 2026-11-20T22:00Z.")], None),
    "in_window": (Annotated[bool, typer.Option("--window", help="Run in the maintenance window.")], False),
    "note": (Annotated[str, typer.Option("--note", help="Reason, kept with the change.")], ""),
}
CHANGE: Options = TIMING | {
    "is_kept": (Annotated[bool, typer.Option("--preview", help="Only preview, for someone else to approve.")], False)
}
