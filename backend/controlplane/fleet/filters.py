"""Filters of lists of instances, such as `tag=name:value`, which may be repeated."""

from __future__ import annotations

from typing import Any

import django_filters
from django.db.models import QuerySet

from controlplane.core.errors import Invalid
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import engine_missing, tagged

LONGEST_TAG = 63


class InstanceFilter(django_filters.FilterSet):
    search = django_filters.CharFilter(method="filter_search", max_length=100)
    instance_class = django_filters.CharFilter("instance_class__name")
    tag = django_filters.CharFilter(method="filter_tag", help_text="Only instances with this tag, as `name:value`.")
    has_engine = django_filters.BooleanFilter("minor_version", "isnull", exclude=True)
    is_engine_missing = django_filters.BooleanFilter(
        method="filter_engine_missing", help_text="The server could load the engine, and has not."
    )
    is_drifted = django_filters.BooleanFilter(method="filter_drifted")
    is_pending_restart = django_filters.BooleanFilter(method="filter_pending")

    class Meta:
        model = Instance
        fields = ("state", "provider", "engine_line", "proxy_enabled")

    def filter_search(self, queryset: QuerySet[Instance], name: str, value: str) -> QuerySet[Instance]:
        return queryset.filter(name__icontains=value) | queryset.filter(host__icontains=value)

    def filter_tag(self, queryset: QuerySet[Instance], name: str, value: str) -> QuerySet[Instance]:
        texts = self.data.getlist("tag") if hasattr(self.data, "getlist") else [value]
        if not all(0 < text.find(":") <= LONGEST_TAG for text in texts):
            raise Invalid.field("tag", "write name:value")
        return tagged(queryset, [(tag, wanted) for tag, _, wanted in (text.partition(":") for text in texts)])

    def filter_engine_missing(self, queryset: QuerySet[Instance], name: str, value: bool) -> QuerySet[Instance]:
        ids = engine_missing().values("pk")
        return queryset.filter(pk__in=ids) if value else queryset.exclude(pk__in=ids)

    def filter_drifted(self, queryset: QuerySet[Instance], name: str, value: bool) -> QuerySet[Instance]:
        return _having(queryset, value, is_drifted=True)

    def filter_pending(self, queryset: QuerySet[Instance], name: str, value: bool) -> QuerySet[Instance]:
        return _having(queryset, value, is_pending_restart=True)


def _having(queryset: QuerySet[Instance], wanted: bool, **parameter: Any) -> QuerySet[Instance]:
    ids = Instance.objects.filter(**{f"parameters__{name}": value for name, value in parameter.items()}).values("pk")
    return queryset.filter(pk__in=ids) if wanted else queryset.exclude(pk__in=ids)
