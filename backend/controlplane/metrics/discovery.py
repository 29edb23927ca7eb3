"""The fleet in the form of Prometheus' http_sd: https://prometheus.io/docs/prometheus/latest/http_sd/."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from controlplane.fleet.models import Instance

NOT_IN_LABELS = re.compile(r"[^a-zA-Z0-9_]")


def scrape_targets(instances: Iterable[Instance]) -> list[dict[str, Any]]:
    return [{"targets": [_address(instance)], "labels": _labels(instance)} for instance in instances]


def _address(instance: Instance) -> str:
    host = f"[{instance.host}]" if ":" in instance.host else instance.host
    return f"{host}:{instance.port}"


def _labels(instance: Instance) -> dict[str, str]:
    tags = {f"__meta_fqc_tag_{NOT_IN_LABELS.sub('_', name)}": str(value) for name, value in instance.tags.items()}
    return {
        "__meta_fqc_instance_id": instance.pk,
        "__meta_fqc_instance_name": instance.name,
        "__meta_fqc_instance_class": instance.instance_class.name,
        "__meta_fqc_product": instance.product,
        "__meta_fqc_engine_version": instance.engine_version,
        "__meta_fqc_minor_version": str(instance.minor_version or ""),
        "__meta_fqc_state": instance.state,
        **tags,
    }
