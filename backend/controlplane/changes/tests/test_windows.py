from datetime import UTC, datetime, time

import pytest

from controlplane.changes.windows import window_opening


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("now", "weekday", "start", "minutes", "opens"),
    [
        ("2026-11-20 01:00", None, "02:00", 60, "2026-11-20 02:00"),
        ("2026-11-20 02:30", None, "02:00", 60, "2026-11-20 02:30"),  # inside: at once
        ("2026-11-20 03:00", None, "02:00", 60, "2026-11-21 02:00"),  # the end is outside
        ("2026-11-21 00:30", None, "23:30", 120, "2026-11-21 00:30"),  # a window over midnight
        ("2026-11-20 12:00", 6, "02:00", 60, "2026-11-22 02:00"),  # a Friday; 6 is Sunday
        ("2026-11-22 02:10", 6, "02:00", 60, "2026-11-22 02:10"),
        ("2026-11-22 04:00", 6, "02:00", 60, "2026-11-29 02:00"),
        ("2026-11-23 00:10", 6, "23:30", 120, "2026-11-23 00:10"),  # Sunday's window reaches into Monday
    ],
)
def test_a_window_opens(now, weekday, start, minutes, opens):
    assert window_opening(at(now), weekday, time.fromisoformat(start), minutes) == at(opens)
