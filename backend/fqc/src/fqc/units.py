"""Converts sizes, spans and times between how people write them and how the API has them. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from fqc.failure import Exit, Failure

_SIZES = {"": 1, "K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}
_SPANS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def size_bytes(text: str) -> int:
    """Returns `64M` as 67108864. K, M, G and T are powers of 1024, as the server reads them. Raises a Failure for other
    text.
    """
    found = re.fullmatch(r"(\d+)([KMGT]?)", text.upper())
    if not found:
        raise Failure(
            f"{text} is not a size.", Exit.USAGE, hint="Use a whole number and K, M, G or T, for example 64M."
        )
    return int(found[1]) * _SIZES[found[2]]


def span_seconds(text: str) -> int:
    """Returns a span such as `30m` in seconds. Raises a Failure for other text."""
    found = re.fullmatch(r"(\d+)([smhd])", text)
    if not found:
        raise Failure(
            f"{text} is not a duration.", Exit.USAGE, hint="Use a whole number and s, m, h or d, for example 30m."
        )
    return int(found[1]) * _SPANS[found[2]]


def moment(text: str, now: datetime | None = None) -> str:
    """Returns a time in ISO format. The text is a time with a zone, or a span before now: `2h` is two hours ago. Raises
    a Failure for other text.
    """
    if re.fullmatch(r"\d+[smhd]", text):
        return ((now or datetime.now(UTC)) - timedelta(seconds=span_seconds(text))).isoformat()
    return point(text)


def point(text: str) -> str:
    """Returns a time with a zone in ISO format. Raises a Failure if it has no zone, or is no time."""
    try:
        read = datetime.fromisoformat(text)
    except ValueError as error:
        raise Failure(f"{text} is not a time.", Exit.USAGE, hint="Write 2026-11-20T22:00Z.") from error
    if read.tzinfo is None:
        raise Failure(f"{text} has no time zone.", Exit.USAGE, hint="Add Z for UTC, or an offset such as +08:00.")
    return read.isoformat()


def release_day(minor_version: int | None) -> str | None:
    """Returns the date that an engine's minor version number stands for: 20261120 as 2026-11-20. None if there is no
    number.
    """
    text = str(minor_version or "")
    return f"{text[:-4]}-{text[-4:-2]}-{text[-2:]}" if text else None


def engine_name(version: str | None, minor_version: int | None) -> str | None:
    """Returns the engine's name, such as `FQC 1.0.0 (2026-11-20)`. None without a minor version number: there is no
    engine.
    """
    day = release_day(minor_version)
    return " ".join(filter(None, ["FQC", version, f"({day})"])) if day else None


def pairs(given: Iterable[str], what: str = "name=value") -> dict[str, str]:
    """Returns arguments such as `name=value` as a dictionary. Raises a Failure that says `what` is expected, for other
    text.
    """
    found = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not sign or not name:
            raise Failure(f"{each} is not {what}.", Exit.USAGE, hint="Quote it if it has blanks or braces.")
        found[name.strip()] = value
    return found


def human_bytes(count: int | float | None) -> str | None:
    """Returns a size in the largest fitting unit, such as `1.5 GiB`. None for None."""
    if count is None:
        return None
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} B" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"


def human_day(text: str | None) -> str | None:
    """Returns the day of a timestamp, in UTC, as YYYY-MM-DD. None for None."""
    return text and datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%d")


def human_time(text: str | None) -> str | None:
    """Returns a timestamp to the second, in UTC, such as `2026-11-20 22:00:00Z`. None for None."""
    return text and datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
