"""The near caches that a round found become rows; no answer of a server can break this."""

from __future__ import annotations

from typing import Any

import pytest

from controlplane.metrics.tests.fleet import instance_make
from controlplane.near_caches.models import NearCache
from controlplane.near_caches.reading import MOST_ROWS, near_rows
from controlplane.near_caches.serializers import obstacle_of
from controlplane.near_caches.services import NearCacheListing, near_caches_note

T = 1_800_000_000.0
DAY = 86400


def row(name: str = "shop", attachment: int = 1, **others: Any) -> dict[str, str | None]:
    numbers = {"Protocol": 1, "Tables": 2, "Entries": 3, "Bytes": 4, "Hits": 0, "Misses": 0, "Writers_waited": 0}
    times = {"Lease_ms": "99.500", "Lag_ms": "0.100", "Waited_ms": "0.000"}
    every = {"Name": name, "Address": "10.0.0.9", "Attachment": attachment, **numbers, **times, **others}
    return {column: None if value is None else str(value) for column, value in every.items()}


def note(at: float, **rows: list[dict[str, str | None]]) -> None:
    near_caches_note({pk: NearCacheListing(at, each) for pk, each in rows.items()})


@pytest.fixture
def pk(db: None) -> str:
    return str(instance_make().pk)


def test_rates_are_of_the_time_between_two_polls(pk: str) -> None:
    note(T, **{pk: [row(Hits=100, Misses=10)]})
    assert NearCache.objects.get().hits_per_second is None
    note(T + 15, **{pk: [row(Hits=400, Misses=25)]})
    near = NearCache.objects.get()
    assert (near.hits_per_second, near.misses_per_second) == (20, 1)
    assert (near.seen_at - near.attached_at).total_seconds() == 15


def test_why_an_attached_one_serves_nothing_is_what_its_server_says(pk: str) -> None:
    assert near_rows([row()])[0]["obstacle"] == "", "an older plugin does not say it"
    note(T, **{pk: [row(Obstacle="the server's cache only observes")]})
    assert obstacle_of(NearCache.objects.get()) == "the server's cache only observes"
    type(NearCache.objects.get().instance).objects.update(cache_type="ON", cache_size_bytes=1)
    note(T + 15, **{pk: [row(Obstacle="")]})
    assert obstacle_of(NearCache.objects.get()) == ""
    [told] = near_rows([row(Obstacle="x" * 1000)])
    assert len(told["obstacle"]) == 200


def test_a_number_that_is_given_again_after_a_restart_is_another_near_cache(pk: str) -> None:
    note(T, **{pk: [row(Hits=100)]})
    note(T + 15, **{pk: [row(Hits=3)]})
    near = NearCache.objects.get()
    assert (near.hits, near.hits_per_second, near.attached_at) == (3, None, near.seen_at)


def test_one_that_is_gone_is_kept_for_a_day(pk: str) -> None:
    note(T, **{pk: [row()]})
    note(T + 15, **{pk: []})
    assert [near.is_attached for near in NearCache.objects.all()] == [False]
    note(T + DAY + 1, **{pk: []})
    assert not NearCache.objects.exists()


def test_an_instance_that_did_not_answer_keeps_what_was_known(pk: str) -> None:
    note(T, **{pk: [row()]})
    near_caches_note({})
    assert NearCache.objects.get().is_attached


def test_two_of_one_name_are_both_listed(pk: str) -> None:
    note(T, **{pk: [row(attachment=1), row(attachment=2)]})
    assert NearCache.objects.count() == 2


@pytest.mark.parametrize(
    "wrong",
    [
        {"Name": "'quoted'"}, {"Name": "nul\0"}, {"Name": None}, {"Address": "\0"}, {"Hits": "many"}, {"Hits": -1},
        {"Hits": 2**63}, {"Protocol": 2**31}, {"Lease_ms": "nan"}, {"Lag_ms": "inf"}, {"Waited_ms": "-1"},
    ],
)  # fmt: skip
def test_what_is_no_row_is_left_out(wrong: dict[str, Any]) -> None:
    assert [
        each["name"] for each in near_rows([row() | {k: v and str(v) for k, v in wrong.items()}, row("sound")])
    ] == ["sound"]


def test_an_endless_list_is_cut_off() -> None:
    assert len(near_rows(row(attachment=number) for number in range(MOST_ROWS + 1))) == MOST_ROWS


@pytest.mark.django_db
def test_an_instance_that_is_deleted_meanwhile_spoils_nothing() -> None:
    note(T, **{"rm-gone": [row()]})
    assert NearCache.objects.count() == 1
