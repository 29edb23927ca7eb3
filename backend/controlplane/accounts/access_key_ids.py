"""The public name of an access key: as long as a token's prefix, so that it fits the audit trail's column. Pure."""

from __future__ import annotations

import base64
import secrets

ACCESS_KEY_ID_LENGTH = 16


def new_access_key_id() -> str:
    """Returns `AK` and 70 random bits in base 32: only letters and digits, as clients' own checks expect."""
    return ("AK" + base64.b32encode(secrets.token_bytes(10)).decode())[:ACCESS_KEY_ID_LENGTH]
