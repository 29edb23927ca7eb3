"""The near caches of an instance over HTTP."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.generics import ListAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from controlplane.core.views import ApiView
from controlplane.fleet.selectors import instance_get
from controlplane.near_caches.models import NearCache
from controlplane.near_caches.selectors import near_cache_list
from controlplane.near_caches.serializers import NearCacheSerializer


class NearCaches(ListAPIView[NearCache], ApiView):
    queryset = NearCache.objects.none()
    serializer_class = NearCacheSerializer
    ordering = ("name", "id")

    def get_queryset(self) -> Any:
        return near_cache_list(instance_get(self.kwargs["pk"]))

    @extend_schema(operation_id="instances_near_caches_list")
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The near caches that are attached to the server, and those that were in the last day."""
        return super().get(request, *args, **kwargs)
