"""`fqc logout`: revokes the context's token and forgets the context."""

from __future__ import annotations

from fqc import contexts
from fqc.call import Call
from fqc.failure import Exit, Failure
from fqc.noun import single
from fqc.options import READ
from fqc.output import say


def logout(call: Call) -> None:
    """Revoke the kept token and forget the context."""
    file = contexts.path()
    kept = contexts.load(file)
    name = call.context or kept.current
    token_id = kept.named(name).token_id
    call.context, call.url, call.token = name, None, None
    try:
        call.api.replace("DELETE", f"tokens/{token_id}")
    except Failure as failure:
        if failure.code not in (Exit.DENIED, Exit.NOT_FOUND):  # it is revoked already
            raise
    del kept.contexts[name]
    kept.current = "" if kept.current == name else kept.current
    contexts.save(file, kept)
    say(f"Logged out of {name}.")


app = single("logout", logout, READ)
