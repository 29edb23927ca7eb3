"""`fqc logout`: revokes the token of the context, and removes the context."""

from __future__ import annotations

from fqc import contexts
from fqc.call import Call
from fqc.failure import Exit, Failure
from fqc.noun import single
from fqc.options import DRY_RUN, READ
from fqc.output import say


def logout(call: Call) -> None:
    """Revoke the saved token and remove the context."""
    file = contexts.path()
    kept = contexts.load(file)
    name = call.context or kept.current
    token_id = kept.named(name).token_id
    if call.is_dry_run:
        call.would("DELETE", f"tokens/{token_id}")
        return
    call.context, call.url, call.token = name, None, None
    try:
        call.api.replace("DELETE", f"tokens/{token_id}")
    except Failure as failure:
        if failure.code not in (Exit.DENIED, Exit.NOT_FOUND):  # the token is revoked already
            raise
    kept.forget(name)
    contexts.save(file, kept)
    say(f"Logged out of {name}.")


app = single("logout", logout, READ | DRY_RUN)
