import io

import pytest
from rich.console import Console

from fqc.listing import Listing

ID = "chg-oohomw4mritkdica"
AT = "2026-11-20 23:55:44Z"
PROSE = "The buffer pool gives a tenth of its memory to the cache."


def drawn(width: int, titles: list[str], *rows: list[str]) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(Listing(titles, list(rows)))
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("width", [48, 60, 80, 120])
def test_words_and_times_stay_whole_and_lines_fit(width: int) -> None:
    lines = drawn(width, ["ID", "AT", "WHY"], [ID, AT, PROSE])
    assert max(map(len, lines)) <= width
    text = " ".join(lines)
    assert ID in text
    assert AT in text


def test_columns_without_room_are_named_and_left_out() -> None:
    lines = drawn(44, ["ID", "AT", "WHY", "BY"], [ID, AT, PROSE, "somebody"])
    assert lines[0].split() == ["ID", "AT"]
    assert lines[2:] == ["No room for WHY, BY: widen the terminal, or", "use -o yaml."]


def test_without_a_width_nothing_wraps() -> None:
    assert drawn(100_000, ["ID", "WHY"], [ID, PROSE])[1] == f"{ID}  {PROSE}"


def test_numbers_stand_at_the_right_and_their_absence_too() -> None:
    assert drawn(80, ["NAME", "SIZE"], ["a", "35.8 MiB"], ["b", "-"], ["c", "0 B"])[1:] == [
        "a     35.8 MiB",
        "b            -",
        "c          0 B",
    ]


def test_an_expression_gives_way_before_a_column_does() -> None:
    lines = drawn(60, ["PARAMETER", "OLD", "NEW"], ["innodb_buffer_pool_size", "{DBInstanceClassMemory*7/10}", "1"])
    assert lines[0].split() == ["PARAMETER", "OLD", "NEW"]


def test_a_long_list_of_switches_pushes_no_column_out() -> None:
    switches = ",".join(f"switch_{number}=on" for number in range(40))
    lines = drawn(60, ["PARAMETER", "RUNNING", "DEFAULT"], ["optimizer_switch", switches, switches])
    assert lines[0].split() == ["PARAMETER", "RUNNING", "DEFAULT"]
    assert max(map(len, lines)) <= 60
