"""`fqc password`: changes the user's own password, after asking for the present one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from fqc.asking import new_secret, secret
from fqc.call import Call
from fqc.noun import single
from fqc.options import DRY_RUN, READ
from fqc.output import Cell

ENDED: dict[str, Cell] = {
    "Sessions ended": lambda it: it["ended"]["sessions"],
    "Tokens revoked": lambda it: it["ended"]["tokens"],
    "Access keys deleted": lambda it: it["ended"]["access_keys"],
}


def password(
    call: Call,
    end_tokens: Annotated[
        bool, typer.Option("--end-tokens", help="Also revoke your access keys and other tokens, except the one in use.")
    ] = False,
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="Read the current and the new password from stdin, one per line.")
    ] = False,
) -> None:
    """Change your own password; your other sessions end."""
    body: dict[str, Any] = {"keep_tokens": not end_tokens}
    if call.is_dry_run:
        call.would("POST", "auth/password", body)
        return
    body["current_password"] = secret("Present password", from_stdin=password_stdin)
    body["new_password"] = new_secret("New password", from_stdin=password_stdin)
    call.show_facts(call.api.post("auth/password", body), ENDED)


app = single("password", password, READ | DRY_RUN)
