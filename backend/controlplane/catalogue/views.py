"""Reading the catalogue. Lines have a fixed, moderate size, so these lists come whole, without pages."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.accounts.permissions import ReadViewerWriteAdmin
from controlplane.catalogue import selectors, services
from controlplane.catalogue.serializers import (
    EngineLineListSerializer,
    EngineLineSerializer,
    ParameterListSerializer,
    ParameterQuerySerializer,
    ParameterSerializer,
)
from controlplane.core.errors import NotFound
from controlplane.core.views import ApiView


class EngineLines(ApiView):
    @extend_schema(operation_id="engine_lines_list", responses=EngineLineListSerializer)
    def get(self, request: Request) -> Response:
        return Response({"items": EngineLineSerializer(selectors.line_list(), many=True).data})


class EngineLineDetail(ApiView):
    permission_classes = (ReadViewerWriteAdmin,)

    @extend_schema(operation_id="engine_lines_retrieve", responses=EngineLineSerializer)
    def get(self, request: Request, id: str) -> Response:
        return Response(EngineLineSerializer(selectors.line_get(id)).data)

    @extend_schema(operation_id="engine_lines_destroy", responses={204: None})
    def delete(self, request: Request, id: str) -> Response:
        """Deletes the definitions of parameters of a line that were read from a server. If a server of the line is a
        trusted source of definitions, they are read again from it within seconds. Until then, instances of the line
        have only the parameters of the shipped line.
        """
        services.engine_line_forget(id)
        return Response(status=204)


class Parameters(ApiView):
    @extend_schema(
        operation_id="parameters_list", parameters=[ParameterQuerySerializer], responses=ParameterListSerializer
    )
    def get(self, request: Request) -> Response:
        query = ParameterQuerySerializer(data=request.query_params)
        query.is_valid(raise_exception=True)
        wanted = dict(query.validated_data)
        found = selectors.parameter_search(selectors.line_get(wanted.pop("engine_line")), **wanted)
        return Response({"items": ParameterSerializer(found, many=True).data})


class ParameterDetail(ApiView):
    @extend_schema(operation_id="parameters_retrieve", responses=ParameterSerializer)
    def get(self, request: Request, id: str, name: str) -> Response:
        definition = selectors.line_get(id).get(name)
        if definition is None:
            raise NotFound(f"Engine line {id} has no parameter {name!r}.", code="parameter_not_found")
        return Response(ParameterSerializer(definition).data)
