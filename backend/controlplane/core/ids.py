"""Public identifiers: a prefix that names the kind, and 80 random bits in lower-case base 32. Pure."""

from __future__ import annotations

import base64
import secrets

RANDOM_BYTES = 10
ID_LENGTH = 24  # column width: prefix, dash and 16 characters, with room


def new_id(prefix: str) -> str:
    return f"{prefix}-{base64.b32encode(secrets.token_bytes(RANDOM_BYTES)).decode().lower()}"
