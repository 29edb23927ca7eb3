from __future__ import annotations

from typing import Any

from rest_framework import serializers

from controlplane.catalogue.access import CLASSES
from controlplane.catalogue.definition import TYPES
from controlplane.catalogue.line import Line


class EngineLineSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    product = serializers.CharField()
    version = serializers.CharField()
    source = serializers.ChoiceField(
        choices=["shipped", "server"],
        help_text="Where the line comes from: `shipped` with the product, or read from a running server.",
    )
    server_version = serializers.CharField(
        help_text="The version of the server that the line was read from; empty for a shipped line."
    )
    read_from = serializers.CharField(
        help_text="The name of the instance whose server the line was read from; empty for a shipped line, and if "
        "it is not known."
    )
    read_at = serializers.DateTimeField(allow_null=True)
    parameter_count = serializers.SerializerMethodField()

    def get_parameter_count(self, line: Line) -> int:
        return len(line.definitions)


class AllowedValuesSerializer(serializers.Serializer[Any]):
    notation = serializers.CharField(
        help_text="The allowed values, as a range `[a-b]`, choices `[x|y]` or a regular expression `~pattern`. "
        "Empty if any value is allowed."
    )
    minimum = serializers.CharField(allow_null=True, help_text="The bound as text: a number, or an expression.")
    maximum = serializers.CharField(allow_null=True, help_text="The bound as text: a number, or an expression.")
    choices = serializers.ListField(child=serializers.CharField())
    pattern = serializers.CharField(allow_null=True)


class ParameterSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    type = serializers.ChoiceField(choices=TYPES)
    unit = serializers.CharField(
        help_text="The unit of the value. Empty for plain numbers and text, and where the server does not state it."
    )
    default = serializers.CharField(allow_null=True, help_text="The default value, which may be an expression.")
    allowed = AllowedValuesSerializer()
    divisor = serializers.IntegerField(help_text="The number that a value must be a multiple of.")
    is_modifiable = serializers.BooleanField(help_text="Whether any role may set the parameter through this product.")
    access = serializers.ChoiceField(choices=CLASSES, source="access.who", help_text="Who may set the parameter.")
    access_code = serializers.CharField(source="access.code", help_text="The stable code of `access_reason`.")
    access_reason = serializers.CharField(
        source="access.reason", help_text="Why operators may not set the parameter; empty if they may."
    )
    needs_restart = serializers.BooleanField()
    description = serializers.CharField()


class ParameterQuerySerializer(serializers.Serializer[Any]):
    engine_line = serializers.CharField(max_length=32, default="5.7")
    search = serializers.CharField(
        max_length=100, default="", help_text="Only parameters in whose name or description each of these words occurs."
    )
    is_modifiable = serializers.BooleanField(allow_null=True, default=None)
    needs_restart = serializers.BooleanField(allow_null=True, default=None)


class EngineLineListSerializer(serializers.Serializer[Any]):
    items = EngineLineSerializer(many=True)


class ParameterListSerializer(serializers.Serializer[Any]):
    items = ParameterSerializer(many=True)
