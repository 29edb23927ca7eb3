"""Questions on the terminal. Without a terminal they fail, and name the option that answers them."""

from __future__ import annotations

import sys

from fqc.call import Call
from fqc.failure import Exit, Failure


def confirm(call: Call, question: str) -> None:
    """Asks the question, and returns if the answer is yes or --yes was given. Raises a Failure if the answer is no, or
    if there is no terminal to ask on.
    """
    if call.is_sure:
        return
    if not sys.stdin.isatty():
        raise Failure(f"{question} No terminal to ask on.", Exit.USAGE, hint="Repeat with --yes.")
    import typer

    if not typer.confirm(question, err=True):
        raise Failure("Nothing was changed.", Exit.ERROR)


def secret(prompt: str, *, from_stdin: bool, flag: str = "--password-stdin") -> str:
    """Returns a line of stdin, or asks for the secret on the terminal without showing it. Raises a Failure that names
    `flag` if there is no terminal.
    """
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    if not sys.stdin.isatty():
        raise Failure(f"{prompt}: no terminal to ask on.", Exit.USAGE, hint=f"Use {flag}.")
    import getpass

    return getpass.getpass(f"{prompt}: ")


def new_secret(prompt: str, *, from_stdin: bool) -> str:
    """Returns a line of stdin, or asks for a new secret twice on the terminal without showing it. Raises a Failure if
    the entries differ, or if there is no terminal.
    """
    given = secret(prompt, from_stdin=from_stdin)
    if not from_stdin and secret("Repeat it", from_stdin=False) != given:
        raise Failure("The two entries do not match. Nothing was changed.", Exit.USAGE)
    return given
