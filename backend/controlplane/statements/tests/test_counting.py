"""Figures of a period, computed from counts since the server's start."""

from controlplane.statements import counting
from controlplane.statements.counting import counts_of, grown


def row(digest, executions, hits=0, reasons=""):
    return {
        "Digest": digest, "Query": f"SELECT {digest}", "Executions": str(executions), "Hits": str(hits),
        "Hit_ratio": "0.0000", "Reasons": reasons, "Stored_one_in": "1",
    }  # fmt: skip


def test_a_span_has_what_grew_in_it():
    before = counts_of([row("a", 10, 4, "changed=3"), row("b", 5)])
    now = [row("a", 30, 14, "changed=5, table_unknown=1"), row("b", 5)]
    assert grown([before], now) == [row("a", 20, 10, "changed=2, table_unknown=1") | {"Hit_ratio": "0.5000"}]


def test_a_span_has_what_was_observed_in_it():
    def observed(executions, requests, hits):
        told = {"Observed_requests": requests, "Observed_hits": hits, "Observed_time_saved_us": 10 * hits}
        return row("a", executions) | {name: str(count) for name, count in told.items()}

    before, now = observed(12, 10, 4), observed(52, 50, 34) | {"Observed_hit_ratio": "0.6800"}
    assert grown([counts_of([before])], [now]) == [observed(40, 40, 30) | {"Observed_hit_ratio": "0.7500"}]


def test_counts_that_began_again_count_from_zero():
    notes = [counts_of([row("a", 10, 4)]), counts_of([row("a", 12, 5)])]
    assert [each["Executions"] for each in grown(notes, [row("a", 7, 7)])] == ["9"]


def test_a_statement_that_was_not_noted_is_new_unless_the_note_was_full(monkeypatch):
    note, now = counts_of([row("a", 10), row("b", 9)]), [row("a", 11), row("c", 50)]
    assert {each["Digest"]: each["Executions"] for each in grown([note], now)} == {"a": "1", "c": "50"}
    monkeypatch.setattr(counting, "MOST_STATEMENTS", 2)
    assert {each["Digest"]: each["Executions"] for each in grown([note], now)} == {"a": "1"}


def test_of_many_statements_those_are_noted_that_are_executed_most(monkeypatch):
    monkeypatch.setattr(counting, "MOST_STATEMENTS", 1)
    assert list(counts_of([row("a", 1), row("b", 2)])) == ["b"]


def test_a_note_stays_small_whatever_a_server_says():
    many = ", ".join(f"reason{number}=1" for number in range(1000))
    said = [row("x" * 1000, 9), row("a", "²"), row("b", "9" * 5000), row("c", 3, -1, f"{many}, wrong=²"), row("d", 2)]
    noted = counts_of(said)
    assert {digest: counts.get("Executions") for digest, counts in noted.items()} == {
        "a": None, "b": None, "c": 3, "d": 2,
    }  # fmt: skip
    assert len(noted["c"]) == 1 + counting.MOST_REASONS
    assert [each["Digest"] for each in grown([noted], said)] == ["x" * 1000]
