"""Charts: the table, the step, and numbers that are right for any step."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from rest_framework.test import APIClient

from controlplane.metrics.models import FleetMinute, HourRollup, Latest, Sample, SixHourRollup
from controlplane.metrics.partitions import partitions_ensure
from controlplane.metrics.series import HOUR, MOST_SPARKLINE_POINTS, SPARKLINES, UNITS, span_of, times_of
from controlplane.metrics.tests.fleet import instance_make

DAY = 24 * HOUR
T = 1_800_000_000 // HOUR * HOUR


def iso(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()


@pytest.mark.parametrize(
    ("length", "points", "resolution"),
    [
        (HOUR, 300, "raw"),
        (6 * HOUR, 300, "raw"),
        (DAY, 300, "minute"),
        (4 * DAY, 1000, "minute"),
        (30 * DAY, 1000, "hour"),
    ],
)
def test_the_span_decides_the_table(length: int, points: int, resolution: str) -> None:
    assert span_of(T - length, T, points, 15).resolution == resolution


@pytest.mark.parametrize("length", [HOUR, 2 * HOUR, 6 * HOUR, 7 * HOUR, DAY, 5 * DAY, 7 * DAY, 30 * DAY, 90 * DAY])
@pytest.mark.parametrize("points", [30, MOST_SPARKLINE_POINTS])
def test_of_many_instances_few_rows_each_are_read(length: int, points: int) -> None:
    """A sparkline reads at most some hundred rows: there is one for each instance on a page, and each row that is read
    costs a page of the disk.
    """
    span = span_of(T - length, T, points, 15, SPARKLINES)
    rows = length / UNITS.get(span.resolution, 15)
    assert rows <= 360 and (rows <= 120 or length > 30 * DAY)
    assert len(times_of(span)) >= min(points, rows) / 2


@pytest.mark.parametrize("length", [1, 59, HOUR, 6 * HOUR, 6 * HOUR + 1, DAY, 30 * DAY, 399 * DAY])
@pytest.mark.parametrize("points", [2, 7, 300, 1000])
@pytest.mark.parametrize("offset", [0, 1, 7, 3599])
def test_never_more_points_than_asked_for(length: int, points: int, offset: int) -> None:
    span = span_of(T + offset - length, T + offset, points, 15)
    count = len(range(span.first_at, span.last_at, span.step_seconds))
    assert 1 <= count <= points
    assert span.first_at <= T + offset - length


def test_a_fleet_that_is_polled_seldom_has_no_empty_buckets() -> None:
    assert span_of(T - DAY, T, 1000, 600).step_seconds % 600 == 0


@pytest.mark.django_db
class TestInstanceSeries:
    def series(self, client: APIClient, instance_id: str, **query: object) -> dict:
        answer = client.get(f"/api/v1/instances/{instance_id}/metrics", query)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def test_buckets_add_up_and_gaps_are_null(self, viewer: APIClient) -> None:
        instance = instance_make()
        partitions_ensure(Sample, T, T)
        for second, hits, lookups in ((0, 10, 10), (15, 0, 10), (45, 5, 5)):
            Sample.objects.create(instance_id=instance.pk, at=T + second, seconds=15, hits=hits, lookups=lookups)
        found = self.series(
            viewer, instance.pk, names="hit_ratio,hits_per_second", **{"from": iso(T), "to": iso(T + 60)}, points=3
        )
        assert found["times"] == [T, T + 30]
        assert [each["values"] for each in found["series"]] == [
            [50.0, 100.0],
            [pytest.approx(1 / 3), pytest.approx(1 / 3)],
        ]
        wide = self.series(viewer, instance.pk, names="hit_ratio", **{"from": iso(T), "to": iso(T + 120)}, points=5)
        assert wide["series"][0]["values"] == [50.0, 100.0, None, None]

    def test_long_spans_read_the_hours(self, viewer: APIClient) -> None:
        instance = instance_make()
        HourRollup.objects.create(instance_id=instance.pk, at=T - HOUR, seconds=3600, hits=1, lookups=4)
        found = self.series(
            viewer, instance.pk, names="hit_ratio", **{"from": iso(T - 30 * DAY), "to": iso(T)}, points=1000
        )
        assert (found["resolution"], found["series"][0]["values"][-1]) == ("hour", 25.0)

    def test_the_formula_comes_with_the_numbers(self, viewer: APIClient) -> None:
        found = self.series(viewer, instance_make().pk, names="buffer_pool_hit_ratio")
        assert "Innodb_buffer_pool_read_requests" in found["series"][0]["formula"]

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ({"names": "nonsense"}, "names"),
            ({"names": ","}, "names"),
            ({}, "names"),
            ({"names": "hit_ratio", "points": "1001"}, "points"),
            ({"names": "hit_ratio", "points": "1"}, "points"),
            ({"names": "hit_ratio", "from": "yesterday"}, "from"),
            ({"names": "hit_ratio", "from": iso(T), "to": iso(T)}, "from"),
            ({"names": "hit_ratio", "from": "0001-01-01T00:00:00Z", "to": iso(T)}, "from"),
            ({"names": "hit_ratio", "from": iso(T - 401 * DAY), "to": iso(T)}, "from"),
        ],
    )
    def test_bad_queries_name_the_field(self, viewer: APIClient, query: dict, field: str) -> None:
        answer = viewer.get(f"/api/v1/instances/{instance_make().pk}/metrics", query)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)

    def test_an_unknown_instance_is_not_found(self, viewer: APIClient) -> None:
        assert viewer.get("/api/v1/instances/rm-none/metrics", {"names": "hit_ratio"}).status_code == 404


@pytest.mark.django_db
def test_the_fleet_adds_up(viewer: APIClient) -> None:
    FleetMinute.objects.create(at=T, seconds=60, hits=600, lookups=800, connections=12)
    found = viewer.get(
        "/api/v1/metrics/fleet",
        {"names": "hits_per_second,hit_ratio,connections", "from": iso(T), "to": iso(T + 60), "points": 2},
    ).json()
    assert [each["values"] for each in found["series"]] == [[10.0], [75.0], [12.0]]


@pytest.mark.django_db
def test_a_chart_of_many_metrics_is_one_query_of_samples(viewer: APIClient, django_assert_num_queries: Any) -> None:
    path = f"/api/v1/instances/{instance_make().pk}/metrics"
    viewer.get(path, {"names": "hit_ratio"})  # the settings' row and the token's last use are written once
    with django_assert_num_queries(4) as captured:
        viewer.get(path, {"names": "hit_ratio,lookups_per_second,connections,select_hit_ratio"})
    assert sum(Sample._meta.db_table in query["sql"] for query in captured) == 1


@pytest.mark.django_db
class TestSparklines:
    PATH = "/api/v1/metrics/sparklines"

    def test_many_instances_in_one_answer_in_the_order_asked_for(self, viewer: APIClient) -> None:
        busy, idle = instance_make(), instance_make()
        partitions_ensure(Sample, T, T)
        for second, hits in ((0, 5), (15, 0), (30, 10)):
            Sample.objects.create(instance_id=busy.pk, at=T + second, seconds=15, hits=hits, lookups=10, questions=30)
        query = {
            "instances": f"rm-deleted,{idle.pk},{busy.pk},{idle.pk}",
            "names": "hit_ratio,questions_per_second",
            "from": iso(T),
            "to": iso(T + 60),
            "points": 5,
        }
        found = viewer.get(self.PATH, query).json()
        assert (found["times"], found["step_seconds"]) == ([T, T + 15, T + 30, T + 45], 15)
        assert found["items"] == [
            {
                "instance_id": idle.pk,
                "series": [
                    {"name": "hit_ratio", "values": [None] * 4, "whole": None},
                    {"name": "questions_per_second", "values": [None] * 4, "whole": None},
                ],
            },
            {
                "instance_id": busy.pk,
                "series": [
                    {"name": "hit_ratio", "values": [50.0, 0.0, 100.0, None], "whole": 50.0},
                    {"name": "questions_per_second", "values": [2.0, 2.0, 2.0, None], "whole": 2.0},
                ],
            },
        ]

    def test_they_say_what_a_chart_of_each_says(self, viewer: APIClient) -> None:
        instances = [instance_make() for _ in range(3)]
        for number, instance in enumerate(instances):
            HourRollup.objects.create(instance_id=instance.pk, at=T - HOUR, seconds=3600, hits=number, lookups=4)
        asked = {"names": "hit_ratio", "from": iso(T - 5 * DAY), "to": iso(T), "points": 30}
        found = viewer.get(self.PATH, {**asked, "instances": ",".join(each.pk for each in instances)}).json()
        for instance, item in zip(instances, found["items"], strict=True):
            chart = viewer.get(f"/api/v1/instances/{instance.pk}/metrics", asked).json()
            assert (item["instance_id"], found["times"]) == (instance.pk, chart["times"])
            assert item["series"][0]["values"] == chart["series"][0]["values"]

    def test_a_month_is_read_by_six_hours(self, viewer: APIClient) -> None:
        instance, at = instance_make(), T // DAY * DAY
        for hours, hits in ((12, 1), (6, 2)):
            SixHourRollup.objects.create(
                instance_id=instance.pk, at=at - hours * HOUR, seconds=6 * HOUR, hits=hits, lookups=4
            )
        asked = {"names": "hit_ratio", "from": iso(at - 30 * DAY), "to": iso(at), "points": 30}
        found = viewer.get(self.PATH, {**asked, "instances": instance.pk}).json()
        assert (found["resolution"], found["step_seconds"]) == ("six_hours", 30 * HOUR)
        values = [value for value in found["items"][0]["series"][0]["values"] if value is not None]
        assert sum(values) in (37.5, 75.0)  # in one bucket, or in two

    def test_as_many_queries_for_a_page_as_for_one(self, viewer: APIClient, django_assert_num_queries: Any) -> None:
        ids = [instance_make().pk for _ in range(50)]
        viewer.get(self.PATH, {"instances": ids[0]})  # the settings' row and the token's last use are written once
        for some in (ids[:1], ids):
            with django_assert_num_queries(4):
                assert len(viewer.get(self.PATH, {"instances": ",".join(some)}).json()["items"]) == len(some)

    def test_of_none_that_exists_there_is_nothing_to_draw(self, viewer: APIClient) -> None:
        assert viewer.get(self.PATH, {"instances": "rm-none"}).json()["items"] == []

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ({}, "instances"),
            ({"instances": ","}, "instances"),
            ({"instances": ",".join(f"rm-{number}" for number in range(201))}, "instances"),
            ({"instances": "rm-none", "names": "nonsense"}, "names"),
            ({"instances": "rm-none", "points": "61"}, "points"),
        ],
    )
    def test_bad_queries_name_the_field(self, viewer: APIClient, query: dict, field: str) -> None:
        answer = viewer.get(self.PATH, query)
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)


@pytest.mark.django_db
def test_the_newest_values_come_page_by_page_by_name(viewer: APIClient, django_assert_num_queries: Any) -> None:
    for name in ("c", "a", "b"):
        growth = {"hits": 3, "lookups": 4, "seconds": 15}
        Latest.objects.create(instance=instance_make(name=name), at=T, readings={}, growth=growth)
    found, cursor = [], ""
    while cursor is not None:
        page = viewer.get("/api/v1/metrics/latest", {"limit": 1, "cursor": cursor} if cursor else {"limit": 1}).json()
        found += [(each["instance_name"], each["values"]["hit_ratio"]) for each in page["items"]]
        cursor = page["next"]
    assert found == [("a", 75.0), ("b", 75.0), ("c", 75.0)]
    with django_assert_num_queries(2):
        viewer.get("/api/v1/metrics/latest", {"limit": 3})


@pytest.mark.django_db
def test_outsiders_see_nothing(outsider: APIClient) -> None:
    for path in (
        "metric-definitions",
        "metrics/fleet",
        "metrics/latest",
        "metrics/sparklines",
        "prometheus/targets",
        "instances/rm-x/metrics",
    ):
        assert outsider.get(f"/api/v1/{path}").status_code == 401, path
    assert outsider.get("/metrics").status_code == 401
