from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from controlplane.metrics.definitions import METRICS
from controlplane.metrics.models import Latest, StorageLook
from controlplane.metrics.series import (
    CHART,
    LEAST_POINTS,
    MOST_POINTS,
    MOST_SPARKLINE_POINTS,
    MOST_SPARKLINES,
    SPARKLINES,
)
from controlplane.metrics.storage import SHOWN

SPARKLINE_NAMES = "select_hit_ratio,served_per_second"
RESOLUTIONS = [name for name, _ in CHART]
WHOLE = "Of the whole span: sums divided, not the mean of `values`; null: no sample, or nothing to divide by."


class MetricDefinitionSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    unit = serializers.CharField()
    kind = serializers.ChoiceField(choices=["rate", "ratio", "gauge"])
    formula = serializers.CharField(help_text="How the metric is computed, as text to show with a chart.")
    description = serializers.CharField()
    traffic = serializers.CharField(
        help_text="The metric that the minimum traffic of an alert rule is compared with; may be empty."
    )


class MetricDefinitionListSerializer(serializers.Serializer[Any]):
    items = MetricDefinitionSerializer(many=True)


class SeriesQuerySerializer(serializers.Serializer[Any]):
    names = serializers.CharField(max_length=1000, help_text="The names of the metrics, separated by commas.")
    start = serializers.DateTimeField(
        required=False, help_text="The start of the span; an hour before the end if it is left out."
    )
    end = serializers.DateTimeField(required=False, help_text="The end of the span; now if it is left out.")
    points = serializers.IntegerField(min_value=LEAST_POINTS, max_value=MOST_POINTS, default=300)

    def get_fields(self) -> dict[str, Any]:
        """Returns the fields with `start` and `end` named `from` and `to`, the plainest names for a query; `from` is a
        keyword of Python.
        """
        fields = super().get_fields()
        return {"from": fields.pop("start"), "to": fields.pop("end"), **fields}


class SparklinesQuerySerializer(SeriesQuerySerializer):
    instances = serializers.CharField(
        max_length=MOST_SPARKLINES * 32, help_text=f"Ids of 1 to {MOST_SPARKLINES} instances, separated by commas."
    )
    names = serializers.CharField(
        max_length=1000, default=SPARKLINE_NAMES, help_text="The names of the metrics, separated by commas."
    )
    points = serializers.IntegerField(min_value=LEAST_POINTS, max_value=MOST_SPARKLINE_POINTS, default=30)


class SparkSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    values = serializers.ListField(
        child=serializers.FloatField(allow_null=True),
        help_text="One value per time. Null if there is no sample, or if the metric has no value, for example "
        "because its denominator is 0.",
    )
    whole = serializers.FloatField(allow_null=True, help_text=WHOLE)


class SparklineSerializer(serializers.Serializer[Any]):
    instance_id = serializers.CharField()
    series = SparkSerializer(many=True)


class SparklinesSerializer(serializers.Serializer[Any]):
    times = serializers.ListField(
        child=serializers.IntegerField(), help_text="The start of each bucket of time, in epoch seconds."
    )
    step_seconds = serializers.IntegerField()
    resolution = serializers.ChoiceField(choices=[name for name, _ in SPARKLINES])
    items = SparklineSerializer(
        many=True, help_text="The instances in the order of `instances`, without those that do not exist."
    )


class MetricSeriesSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    unit = serializers.CharField()
    formula = serializers.CharField()
    values = serializers.ListField(
        child=serializers.FloatField(allow_null=True),
        help_text="One value per time. Null if there is no sample, or if the metric has no value, for example "
        "because its denominator is 0.",
    )
    whole = serializers.FloatField(allow_null=True, help_text=WHOLE)


class SeriesSerializer(serializers.Serializer[Any]):
    times = serializers.ListField(
        child=serializers.IntegerField(), help_text="The start of each bucket of time, in epoch seconds."
    )
    step_seconds = serializers.IntegerField()
    resolution = serializers.ChoiceField(choices=RESOLUTIONS)
    series = MetricSeriesSerializer(many=True)


class HeadlinesSerializer(SeriesSerializer):
    """The key figures of a period, in the order in which they are shown. In each of `series`, `whole` is the figure for
    the whole period.
    """

    window_seconds = serializers.IntegerField(
        help_text="The length of the period that the figures are for, in seconds."
    )


class LatestSerializer(serializers.ModelSerializer[Latest]):
    instance_id = serializers.CharField()
    instance_name = serializers.CharField()
    at = serializers.FloatField(help_text="The time of the values, in epoch seconds.")
    values = serializers.SerializerMethodField()

    class Meta:
        model = Latest
        fields = ("instance_id", "instance_name", "at", "values")
        read_only_fields = fields

    @extend_schema_field(
        serializers.DictField(
            child=serializers.FloatField(allow_null=True),
            help_text="Each metric by name, for the interval before `at`. Null if it has no value, for example because"
            " its denominator is 0.",
        )
    )
    def get_values(self, latest: Latest) -> dict[str, float | None]:
        return {name: definition.value(latest.growth) for name, definition in METRICS.items()}


class StorageSerializer(serializers.ModelSerializer[StorageLook]):
    class Meta:
        model = StorageLook
        fields = SHOWN
        read_only_fields = fields


class ScrapeTargetSerializer(serializers.Serializer[Any]):
    """A group of targets in the format of Prometheus' HTTP service discovery (http_sd)."""

    targets = serializers.ListField(child=serializers.CharField())
    labels = serializers.DictField(child=serializers.CharField())
