"""The data of events by topic, as the contract describes the stream."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers

VALUES_HELP = "Every metric by name, over the interval before; null: nothing to divide by."


class StreamedSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField(help_text="When it happened.")
    subject = serializers.CharField(help_text="The id of what it happened to.")


class StepAtWorkSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    name = serializers.CharField(help_text="Of the parameter; empty: the step is of none.")


class ProgressSerializer(serializers.Serializer[Any]):
    done = serializers.IntegerField()
    total = serializers.IntegerField()


class StreamedChangeSerializer(StreamedSerializer):
    """Sent when its state changes, and at each of its steps."""

    topic = serializers.ChoiceField(choices=["change"])
    state = serializers.CharField()
    kind = serializers.CharField()
    instance = serializers.CharField(allow_null=True, help_text="The instance's id; null: it is deleted by now.")
    step = StepAtWorkSerializer(
        required=False, allow_null=True, help_text="The one at work; absent before the change was started."
    )
    progress = ProgressSerializer(required=False, help_text="Steps done, of how many; what was taken back is not done.")


class StreamedFleetApplySerializer(StreamedSerializer):
    """Sent when its state changes, and when one of its instances has ended."""

    topic = serializers.ChoiceField(choices=["fleet_apply"])
    state = serializers.CharField()
    counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="How many instances are in which state, when it is told."
    )


class StreamedIncidentSerializer(StreamedSerializer):
    topic = serializers.ChoiceField(choices=["incident"])
    transition = serializers.CharField()
    instance_id = serializers.CharField()


class StreamedInstanceSerializer(StreamedSerializer):
    topic = serializers.ChoiceField(choices=["instance"])
    state = serializers.CharField()
    name = serializers.CharField()


class MetricValuesField(serializers.DictField):
    child = serializers.FloatField(allow_null=True)


class StreamedSamplesSerializer(StreamedSerializer):
    topic = serializers.ChoiceField(choices=["samples"])
    sampled_at = serializers.IntegerField(help_text="The time of the round's samples in the charts, epoch seconds.")
    answered = serializers.IntegerField(help_text="How many instances answered.")
    fleet = MetricValuesField(help_text=f"Of all that answered. {VALUES_HELP}")
    values = serializers.DictField(
        child=MetricValuesField(),
        required=False,
        help_text=f"By id, of those of `instances` that answered; absent if none were named. {VALUES_HELP}",
    )


BY_TOPIC: dict[str, type[StreamedSerializer]] = {
    "change": StreamedChangeSerializer,
    "fleet_apply": StreamedFleetApplySerializer,
    "incident": StreamedIncidentSerializer,
    "instance": StreamedInstanceSerializer,
    "samples": StreamedSamplesSerializer,
}
EVENT = PolymorphicProxySerializer(component_name="Streamed", serializers=BY_TOPIC, resource_type_field_name="topic")
