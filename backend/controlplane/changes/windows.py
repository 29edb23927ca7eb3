"""When a change may start: now, at a time, or when the maintenance window next opens. Pure. All times are UTC."""

from __future__ import annotations

from datetime import datetime, time, timedelta


def window_opening(now: datetime, weekday: int | None, start: time, minutes: int) -> datetime:
    """Returns `now` inside the maintenance window, otherwise the start of the next window.

    `weekday`: 0 is Monday, None is every day. `minutes` is the window's length.
    """
    length = timedelta(minutes=minutes)
    for days in range(-1, 8):
        opens = datetime.combine(now.date(), start, tzinfo=now.tzinfo) + timedelta(days=days)
        if weekday in (None, opens.weekday()) and opens + length > now:
            return max(opens, now)
    raise ValueError(f"weekday {weekday} is not 0 to 6")
