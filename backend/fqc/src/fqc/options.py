"""The options that several commands have in common, by sort: a name in `Call`, how it is written, and its default."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fqc.output import Format

Options = dict[str, tuple[Any, Any]]


def _from(flags: tuple[str, ...], variable: str, words: str) -> Any:
    return typer.Option(*flags, envvar=variable, help=f"{words} [{variable}]")


READ: Options = {
    "form": (Annotated[Format, _from(("--output", "-o"), "FQC_OUTPUT", "For people, or for scripts.")], Format.TABLE),
    "context": (Annotated[str | None, _from(("--context",), "FQC_CONTEXT", "One that you logged in to.")], None),
    "url": (Annotated[str | None, _from(("--url",), "FQC_URL", "Address of the control plane.")], None),
    "token": (
        Annotated[str | None, _from(("--token",), "FQC_TOKEN", "Others see flags, but not the environment.")],
        None,
    ),
}
WATCH: Options = {
    "is_watching": (Annotated[bool, typer.Option("--watch", "-w", help="Show it again until Ctrl-C.")], False),
    "interval_seconds": (Annotated[float, typer.Option("--interval", min=0.2, help="Between two looks.")], 2.0),
}
DRY_RUN: Options = {
    "is_dry_run": (Annotated[bool, typer.Option("--dry-run", help="Say what would happen; alter nothing.")], False)
}
SURE: Options = {"is_sure": (Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")], False)}
WAIT: Options = {
    "is_waiting": (Annotated[bool, typer.Option("--wait", help="Until it has ended; say how far it is.")], False),
    "timeout_seconds": (
        Annotated[float, _from(("--timeout",), "FQC_TIMEOUT", "Wait so long at most.")],
        600.0,
    ),
}
TIMING: Options = {
    "at": (Annotated[str | None, typer.Option("--at", help="At this time: 2026-11-20T22:00Z.")], None),
    "in_window": (Annotated[bool, typer.Option("--window", help="In the instance's maintenance window.")], False),
    "note": (Annotated[str, typer.Option("--note", help="Why; kept with the change.")], ""),
}
CHANGE: Options = TIMING | {
    "is_kept": (Annotated[bool, typer.Option("--preview", help="Leave it previewed, for somebody to approve.")], False)
}
