"""The data of events by topic, as the contract describes the stream."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import PolymorphicProxySerializer
from rest_framework import serializers

VALUES_HELP = "Every metric by name, over the interval before; null: nothing to divide by."


class StreamedSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField(help_text="When the event happened.")
    subject = serializers.CharField(help_text="The id of the resource that the event is about.")


class StepAtWorkSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    name = serializers.CharField(
        help_text="The name of the parameter that the step is about; empty if it is about none."
    )


class ProgressSerializer(serializers.Serializer[Any]):
    done = serializers.IntegerField()
    total = serializers.IntegerField()


class StreamedChangeSerializer(StreamedSerializer):
    """An event about a change set. It is sent when the change set's state changes, and at each of its steps."""

    topic = serializers.ChoiceField(choices=["change"])
    state = serializers.CharField()
    kind = serializers.CharField()
    instance = serializers.CharField(allow_null=True, help_text="The id of the instance; null if it has been deleted.")
    step = StepAtWorkSerializer(
        required=False, allow_null=True, help_text="The step that is running; absent before the change set has started."
    )
    progress = ProgressSerializer(
        required=False,
        help_text="The number of steps that are done, and of all steps. A step that was undone is not done.",
    )


class StreamedFleetApplySerializer(StreamedSerializer):
    """An event about a fleet apply. It is sent when the fleet apply's state changes, and when the work on one of its
    instances has ended.
    """

    topic = serializers.ChoiceField(choices=["fleet_apply"])
    state = serializers.CharField()
    counts = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="The number of instances in each state, at the time when the event is sent.",
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
    sampled_at = serializers.IntegerField(help_text="The time of this round's samples in charts, in epoch seconds.")
    answered = serializers.IntegerField(help_text="The number of instances that answered in this round of polls.")
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
