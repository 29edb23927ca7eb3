"""`fqc whoami`: the user whose token is used, and the user's role."""

from __future__ import annotations

from fqc.call import Call
from fqc.failure import Exit, Failure
from fqc.noun import single
from fqc.options import READ


def whoami(call: Call) -> None:
    """Show who you are logged in as, and your role."""
    found = call.api.get("auth/session")
    if not found["is_authenticated"]:
        raise Failure(f"Not logged in at {call.api.url}.", Exit.DENIED, hint="Log in with `fqc login`.")
    shown = {"username": found["user"]["username"], "role": found["role"], "url": call.api.url}
    call.show_facts(shown, {"User": "username", "Role": "role", "Address": "url"})


app = single("whoami", whoami, READ)
