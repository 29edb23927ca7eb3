from datetime import UTC, datetime

import pytest

from fqc.cache import gain
from fqc.change_view import changed
from fqc.failure import Exit, Failure
from fqc.metrics import curve
from fqc.output import Format, emit, stacked, written
from fqc.template_text import parsed, rendered
from fqc.units import human_bytes, human_time, moment, pairs, point, size_bytes, span_seconds


@pytest.mark.parametrize(("text", "count"), [("1024", 1024), ("64M", 67108864), ("2g", 2147483648)])
def test_sizes_are_read_in_the_servers_notation(text: str, count: int) -> None:
    assert size_bytes(text) == count


@pytest.mark.parametrize(
    ("read", "text"),
    [(size_bytes, "64MB"), (size_bytes, "-1"), (span_seconds, "1.5h"), (span_seconds, "h"), (point, "noon")],
)
def test_what_cannot_be_read_is_a_usage_error_with_an_example(read: object, text: str) -> None:
    with pytest.raises(Failure) as caught:
        read(text)  # type: ignore[operator]
    assert caught.value.code == Exit.USAGE
    assert text in caught.value.message
    assert caught.value.hint


def test_a_span_before_now_is_a_moment() -> None:
    assert moment("2h", datetime(2026, 11, 20, 12, tzinfo=UTC)) == "2026-11-20T10:00:00+00:00"


def test_a_time_without_zone_is_refused_and_not_guessed() -> None:
    with pytest.raises(Failure, match="time zone"):
        point("2026-11-20T12:00")
    assert point("2026-11-20T12:00Z") == "2026-11-20T12:00:00+00:00"


def test_pairs_split_at_the_first_sign() -> None:
    assert pairs(["sql_mode=A=B", "x="]) == {"sql_mode": "A=B", "x": ""}
    with pytest.raises(Failure):
        pairs(["sql_mode"])


@pytest.mark.parametrize(("count", "words"), [(0, "0 B"), (1536, "1.5 KiB"), (1 << 40, "1.0 TiB"), (None, None)])
def test_bytes_for_people(count: int | None, words: str | None) -> None:
    assert human_bytes(count) == words


def test_times_for_people_are_in_utc() -> None:
    assert human_time("2026-11-20T23:30:00.5+08:00") == "2026-11-20 15:30:00Z"


def test_a_templates_text_survives_a_round_trip() -> None:
    values = {"innodb_buffer_pool_size": "{DBInstanceClassMemory*7/10}", "sql_mode": "A=B"}
    assert parsed("# a remark\n\n" + rendered(values)) == values


def test_a_line_without_sign_is_named() -> None:
    with pytest.raises(Failure, match="Line 2"):
        parsed("a = 1\nb\n")


def test_a_curve_keeps_peaks_and_leaves_gaps_empty() -> None:
    assert curve([0, None, 8, 4]) == "▁·█▅"
    assert curve([0, 0, 0, 9, 0, 0], width=2) == "▁█"
    assert curve([]) == ""


def test_numbers_are_written_for_people() -> None:
    assert [written(each) for each in (0.3349297293055999, 71.79, 100000.0, 37538816.0, 0.0, None)] == [
        "0.33493",
        "71.79",
        "100000",
        "37538816",
        "0",
        "-",
    ]


def test_brackets_and_colons_of_a_text_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    emit(None, Format.TABLE, lambda _: stacked("[[rule]]", "comment = ':smile: [red]'"))
    assert capsys.readouterr().out == "[[rule]]\ncomment = ':smile: [red]'\n"


def test_what_had_no_value_before_is_a_dash_in_the_list_of_changes() -> None:
    change = {"changed": [{"name": "long_query_time", "old": None, "new": "2.5"}], "changed_count": 2}
    assert changed(change) == "long_query_time - -> 2.5, +1"


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("few_repeat", "hardly worth it"),
        ("little_time", "not worth it"),
        ("small_sample", "sample is small"),
        ("may_pay", "at least these"),
    ],
)
def test_an_estimate_says_whether_a_near_cache_is_worth_it(verdict: str, words: str) -> None:
    told = gain({"estimate": {"read_time_ratio": 0.9, "sampled": 200, "repeated": 20, "verdict": verdict}})
    assert words in [each for each in told if each][-1]
