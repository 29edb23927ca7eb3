"""Findings of a check: severity, what was seen, what is needed, and how to fix it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    BLOCKING = "blocking"  # refused until fixed
    ADVICE = "advice"  # allowed, probably unwise
    NOTICE = "notice"  # information, such as that a restart is needed


@dataclass(frozen=True)
class Finding:
    severity: Severity
    code: str  # a stable code
    parameter: str  # empty if the finding is about several
    seen: str
    needed: str
    remedy: str
    nearest: str | None = None  # a value that would fit; None if none is known
    facts: Mapping[str, str] = field(default_factory=dict)  # values that `seen` and `needed` mention, by name
