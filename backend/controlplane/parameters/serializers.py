from __future__ import annotations

import re
from typing import Any

from rest_framework import serializers

from controlplane.parameters.expressions import VARIABLES
from controlplane.parameters.findings import Finding, Severity
from controlplane.parameters.models import Template, TemplateVersion
from controlplane.parameters.selectors import template_values
from controlplane.parameters.services import MERGE, OVERWRITE

NAME = re.compile(r"\A[A-Za-z][A-Za-z0-9._-]{0,63}\Z")
LARGEST = 2**63 - 1


class TemplateNameField(serializers.RegexField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(NAME, max_length=64, **kwargs)
        self.error_messages["invalid"] = "start with a letter, then letters, digits, dot, underscore or dash"


class ValueField(serializers.CharField):
    """A field with a parameter's value, which is kept byte for byte, with leading and trailing blanks."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=4096, allow_blank=True, trim_whitespace=False, **kwargs)


class TemplateSerializer(serializers.ModelSerializer[Template]):
    class Meta:
        model = Template
        fields: tuple[str, ...] = (
            "id",
            "name",
            "description",
            "engine_line",
            "is_system",
            "version",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields


class TemplateDetailSerializer(TemplateSerializer):
    values = serializers.SerializerMethodField()

    class Meta(TemplateSerializer.Meta):
        fields = (*TemplateSerializer.Meta.fields, "values")
        read_only_fields = fields

    def get_values(self, template: Template) -> dict[str, str]:
        return template_values(template)


class TemplateCreateSerializer(serializers.Serializer[Any]):
    name = TemplateNameField()
    description = serializers.CharField(max_length=200, allow_blank=True, default="")
    engine_line = serializers.CharField(
        max_length=32,
        required=False,
        help_text="The engine line of the template. If left out, the line of most instances, or 5.7 if there are none.",
    )
    values = serializers.DictField(child=ValueField(), default=dict)
    note = serializers.CharField(max_length=200, allow_blank=True, default="")


class TemplateUpdateSerializer(serializers.Serializer[Any]):
    name = TemplateNameField(required=False)
    description = serializers.CharField(max_length=200, allow_blank=True, required=False)
    values = serializers.DictField(
        child=ValueField(allow_null=True),
        required=False,
        help_text="The values by parameter. In the mode `merge`, null removes a parameter.",
    )
    mode = serializers.ChoiceField(choices=[MERGE, OVERWRITE], default=MERGE)
    note = serializers.CharField(max_length=200, allow_blank=True, default="")


class TemplateCloneSerializer(serializers.Serializer[Any]):
    name = TemplateNameField()
    description = serializers.CharField(max_length=200, allow_blank=True, default="")
    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)


class TemplateVersionSerializer(serializers.ModelSerializer[TemplateVersion]):
    values = serializers.DictField(child=serializers.CharField())

    class Meta:
        model = TemplateVersion
        fields = ("number", "values", "note", "actor", "created_at")
        read_only_fields = fields


class TemplateDocumentSerializer(serializers.Serializer[Any]):
    """A template as a document, which export returns and import accepts."""

    format = serializers.ChoiceField(choices=["fqc-template-1"])
    name = TemplateNameField()
    description = serializers.CharField(max_length=200, allow_blank=True, default="")
    engine_line = serializers.CharField(max_length=32)
    values = serializers.DictField(child=ValueField())


class VersionQuerySerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)


class TemplateDiffQuerySerializer(serializers.Serializer[Any]):
    other = serializers.CharField(
        max_length=64, required=False, help_text="The template to compare with; this one if it is left out."
    )
    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    other_version = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)


class TemplateDifferenceSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=["added", "removed", "changed", "respelled"])
    before = serializers.CharField(allow_null=True)
    after = serializers.CharField(allow_null=True)


class TemplateDiffSerializer(serializers.Serializer[Any]):
    items = TemplateDifferenceSerializer(many=True)


class ClassVariablesSerializer(serializers.Serializer[Any]):
    """The variables that expressions may use, such as the memory of the machine. An instance class defines all four."""

    AllocatedStorage = serializers.IntegerField(min_value=0, max_value=LARGEST, required=False)
    DBInstanceClassMemory = serializers.IntegerField(min_value=0, max_value=LARGEST, required=False)
    DBInstanceClassCPU = serializers.IntegerField(min_value=0, max_value=LARGEST, required=False)
    DBInstanceClassConnections = serializers.IntegerField(min_value=0, max_value=LARGEST, required=False)


assert set(ClassVariablesSerializer().fields) == set(VARIABLES)  # noqa: S101 - one vocabulary, stated twice


class FindingSerializer(serializers.Serializer[Finding]):
    severity = serializers.ChoiceField(choices=[severity.value for severity in Severity])
    code = serializers.CharField()
    parameter = serializers.CharField(
        help_text="The parameter that the finding is about; empty if it is about several."
    )
    seen = serializers.CharField()
    needed = serializers.CharField()
    remedy = serializers.CharField()
    nearest = serializers.CharField(allow_null=True, help_text="The nearest value that would be valid.")
    facts = serializers.DictField(
        child=serializers.CharField(),
        default=dict,
        help_text="The figures and names that `seen` and `needed` mention, for clients with texts of their own.",
    )


class TemplateResolveSerializer(serializers.Serializer[Any]):
    variables = ClassVariablesSerializer()
    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    clamp = serializers.BooleanField(
        default=False,
        help_text="Whether a result of an expression that is outside its range is replaced by the nearest value "
        "inside.",
    )


class ResolvedValueSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    submitted = serializers.CharField()
    resolved = serializers.CharField(allow_null=True)
    canonical = serializers.CharField(allow_null=True)
    needs_restart = serializers.BooleanField()


class ResolutionSerializer(serializers.Serializer[Any]):
    values = ResolvedValueSerializer(many=True)
    findings = FindingSerializer(many=True)
    is_blocked = serializers.BooleanField()


class ExpressionRequestSerializer(serializers.Serializer[Any]):
    expression = serializers.CharField(max_length=4096, allow_blank=True, trim_whitespace=False)
    variables = ClassVariablesSerializer(required=False)
    parameter = serializers.CharField(
        max_length=64, required=False, help_text="The parameter that the value is to be checked for."
    )
    engine_line = serializers.CharField(
        max_length=32, required=False, help_text="The line of the parameter; if absent, that of most instances."
    )
    instance = serializers.CharField(
        max_length=64,
        required=False,
        help_text="The id or name of the instance that the expression is for. Its class, its line and its "
        "configured and running values are then used, and `variables` and `engine_line` are ignored.",
    )


class ExpressionErrorSerializer(serializers.Serializer[Any]):
    code = serializers.CharField()
    column = serializers.IntegerField(help_text="The column of the error, counted from 1.")
    found = serializers.CharField()
    expected = serializers.CharField()
    hint = serializers.CharField()


class EvaluationSerializer(serializers.Serializer[Any]):
    expression = serializers.CharField(help_text="The expression as it was submitted.")
    canonical = serializers.CharField(allow_null=True)
    variables = serializers.ListField(
        child=serializers.CharField(), help_text="The values of the variables that the expression names."
    )
    value = serializers.CharField(allow_null=True, help_text="The computed value: a whole number of any size, as text.")
    error = ExpressionErrorSerializer(allow_null=True)
    findings = FindingSerializer(many=True)
