"""Templates and expressions over HTTP."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts.permissions import ReadViewerWriteOperator, ViewerOnly
from controlplane.catalogue.line import with_engine
from controlplane.catalogue.selectors import line_get
from controlplane.core.etag import if_match
from controlplane.core.views import ApiView, ApiViewSet, with_etag
from controlplane.parameters import selectors, services
from controlplane.parameters import serializers as shapes
from controlplane.parameters.difference import differences
from controlplane.parameters.evaluation import EvaluationContext, evaluate
from controlplane.parameters.models import Template
from controlplane.parameters.resolution import resolve

FORMAT = "fqc-template-1"


def _given(serializer: Any, data: Any) -> dict[str, Any]:
    checked = serializer(data=data)
    checked.is_valid(raise_exception=True)
    return dict(checked.validated_data)


class TemplateViewSet(ApiViewSet):
    queryset = selectors.template_list()
    serializer_class = shapes.TemplateSerializer
    permission_classes = (ReadViewerWriteOperator,)
    filterset_fields = ("name", "engine_line", "is_system")
    if_match_methods = ("PATCH", "DELETE")

    @extend_schema(responses=shapes.TemplateSerializer(many=True))
    def list(self, request: Request) -> Response:
        return self.listed(self.get_queryset())

    @extend_schema(responses=shapes.TemplateDetailSerializer)
    def retrieve(self, request: Request, pk: str) -> Response:
        return self._detail(selectors.template_get(pk))

    @extend_schema(request=shapes.TemplateCreateSerializer, responses={201: shapes.TemplateDetailSerializer})
    def create(self, request: Request) -> Response:
        given = _given(shapes.TemplateCreateSerializer, request.data)
        line = given.pop("engine_line", None) or selectors.FLEET_LINE.part()
        return self._detail(services.template_create(engine_line=line, **given), 201)

    @extend_schema(request=shapes.TemplateUpdateSerializer, responses=shapes.TemplateDetailSerializer)
    def partial_update(self, request: Request, pk: str) -> Response:
        template, expected = selectors.template_get(pk), if_match(request)
        given = _given(shapes.TemplateUpdateSerializer, request.data)
        return self._detail(services.template_update(template=template, expected=expected, **given))

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: str) -> Response:
        services.template_delete(template=selectors.template_get(pk), expected=if_match(request))
        return Response(status=204)

    @extend_schema(request=shapes.TemplateCloneSerializer, responses={201: shapes.TemplateDetailSerializer})
    @action(detail=True, methods=["post"])
    def clone(self, request: Request, pk: str) -> Response:
        given = _given(shapes.TemplateCloneSerializer, request.data)
        number = given.pop("version", None)
        return self._detail(services.template_clone(source=selectors.template_get(pk), number=number, **given), 201)

    @extend_schema(parameters=[shapes.TemplateDiffQuerySerializer], responses=shapes.TemplateDiffSerializer)
    @action(detail=True, filter_backends=[], pagination_class=None)
    def diff(self, request: Request, pk: str) -> Response:
        """Compares this template (in `version`) with the template `other` (in `other_version`), and returns the values
        that differ.
        """
        query = _given(shapes.TemplateDiffQuerySerializer, request.query_params)
        template = selectors.template_get(pk)
        other = selectors.template_get(query["other"]) if "other" in query else template
        found = differences(
            selectors.template_values(template, query.get("version")),
            selectors.template_values(other, query.get("other_version")),
        )
        return Response({"items": shapes.TemplateDifferenceSerializer(found, many=True).data})

    @extend_schema(responses=shapes.TemplateVersionSerializer(many=True))
    @action(detail=True, filter_backends=[])
    def versions(self, request: Request, pk: str) -> Response:
        self.ordering = ("-number",)
        return self.listed(selectors.template_get(pk).versions.all(), shapes.TemplateVersionSerializer)

    @extend_schema(parameters=[shapes.VersionQuerySerializer], responses=shapes.TemplateDocumentSerializer)
    @action(detail=True, filter_backends=[], pagination_class=None)
    def export(self, request: Request, pk: str) -> Response:
        number = _given(shapes.VersionQuerySerializer, request.query_params).get("version")
        template = selectors.template_get(pk)
        document = {"format": FORMAT, "name": template.name, "description": template.description}
        values = selectors.template_values(template, number)
        return Response({**document, "engine_line": template.engine_line, "values": values})

    @extend_schema(request=shapes.TemplateDocumentSerializer, responses={201: shapes.TemplateDetailSerializer})
    @action(detail=False, methods=["post"], url_path="import")
    def import_(self, request: Request) -> Response:
        given = _given(shapes.TemplateDocumentSerializer, request.data)
        given.pop("format")
        return self._detail(services.template_create(**given, note="imported"), 201)

    @extend_schema(request=shapes.TemplateResolveSerializer, responses=shapes.ResolutionSerializer)
    @action(detail=True, methods=["post"], permission_classes=[ViewerOnly])
    def resolve(self, request: Request, pk: str) -> Response:
        """Returns the values that the template has on an instance class, where expressions become numbers, and findings
        about them. Nothing is changed.
        """
        given = _given(shapes.TemplateResolveSerializer, request.data)
        template = selectors.template_get(pk)
        values = selectors.template_values(template, given.get("version"))
        found = resolve(
            with_engine(line_get(template.engine_line)), values, given["variables"], is_clamped=given["clamp"]
        )
        return Response(shapes.ResolutionSerializer(found).data)

    def _detail(self, template: Template, status: int = 200) -> Response:
        return with_etag(shapes.TemplateDetailSerializer(template).data, template.version, status)


class ExpressionEvaluate(ApiView):
    permission_classes = (ViewerOnly,)

    @extend_schema(
        operation_id="expressions_evaluate",
        request=shapes.ExpressionRequestSerializer,
        responses=shapes.EvaluationSerializer,
    )
    def post(self, request: Request) -> Response:
        """Computes the value of an expression. For a wrong expression the answer has status 200 too, and its `error`
        names the column.
        """
        given = _given(shapes.ExpressionRequestSerializer, request.data)
        found = evaluate(given["expression"], _evaluation_place(given), given.get("parameter"))
        return Response(shapes.EvaluationSerializer(found).data)


def _evaluation_place(given: dict[str, Any]) -> EvaluationContext:
    if "instance" in given:
        return selectors.EVALUATION_CONTEXT.part(given["instance"])
    line = given.get("engine_line") or selectors.FLEET_LINE.part()
    return EvaluationContext(line_get(line), given.get("variables"))
