"""What a check noticed: how grave, what was seen, what is needed, and what mends it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    BLOCKING = "blocking"  # refused until mended
    ADVICE = "advice"  # allowed, probably unwise
    NOTICE = "notice"  # something to know, such as a restart


@dataclass(frozen=True)
class Finding:
    severity: Severity
    code: str  # stable
    parameter: str  # empty: about several
    seen: str
    needed: str
    remedy: str
    nearest: str | None = None  # a value that would fit
    facts: Mapping[str, str] = field(default_factory=dict)  # of which `seen` and `needed` speak, by name
