"""Keeps secrets out of the audit trail: values with a name that suggests a secret are replaced. Pure."""

from __future__ import annotations

from typing import Any

REDACTED = "[redacted]"
SMELLS = ("password", "secret", "token", "private_key", "sealed", "credential")
HARMLESS = ("token_prefix", "token_id", "token_lifetime_days", "password_changed", "ended_tokens")


def redacted(value: Any, name: str = "") -> Any:
    if name.lower() not in HARMLESS and any(smell in name.lower() for smell in SMELLS):
        return REDACTED if value else value
    if isinstance(value, dict):
        return {key: redacted(inner, str(key)) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [redacted(inner) for inner in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)
