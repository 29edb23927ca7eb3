"""Traces and metrics by OpenTelemetry, sent by OTLP over HTTP if FQC_OTLP_ENDPOINT is set; otherwise nothing is
imported.

There is a span for each request and each task; a task continues the trace of the request that sent it. A request
continues the trace that a trusted proxy names. Any other client's trace context is ignored: the client could decide
what is sampled, and write into the traces of others. Spans carry routes, codes and names of tasks, but no queries,
bodies or names of people. A collector that is down slows nothing: data that cannot be sent is dropped by a background
thread.
"""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Callable
from functools import cache
from typing import Any

from celery.signals import before_task_publish, task_postrun, task_prerun
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

_ends: list[Callable[[], object]] = []
UNKNOWN = "unknown"  # there is no route; the path itself could contain anything
PARAMETER = re.compile(r"\(\?P<(?P<named>\w+)>[^)]*\)|<\w+:(?P<typed>\w+)>")


def begin(role: str) -> None:
    """Starts sending traces and metrics of this process, named by its role, if FQC_OTLP_ENDPOINT is set.

    Call it after any fork, since the sending threads do not survive one.
    """
    if not settings.OTLP_ENDPOINT:
        return
    from opentelemetry import metrics, trace
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    facts = {"service.name": f"fqc-{role}", "service.instance.id": f"{platform.node()}:{os.getpid()}"}
    resource = Resource.create(facts)
    traces = TracerProvider(resource=resource)
    traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{settings.OTLP_ENDPOINT}/v1/traces")))
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(f"{settings.OTLP_ENDPOINT}/v1/metrics"))
    meters = MeterProvider(resource=resource, metric_readers=[reader])
    trace.set_tracer_provider(traces)
    metrics.set_meter_provider(meters)
    _ends.extend([traces.shutdown, meters.shutdown])
    before_task_publish.connect(_hand_over)
    task_prerun.connect(_task_begins)
    task_postrun.connect(_task_ends)


def end() -> None:
    """Sends the remaining data and stops telemetry.

    A worker's child process must call it at its end, since it does not run Python's atexit functions.
    """
    while _ends:
        _ends.pop()()


class Traced:
    """The outermost middleware, which traces and times requests. Only used if telemetry is on."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        from opentelemetry import metrics, trace

        self.get_response = get_response
        self._tracer = trace.get_tracer(__name__)
        meter = metrics.get_meter(__name__)
        self._seconds = meter.create_histogram("http.server.request.duration", "s", "How long requests took.")

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind, StatusCode

        started = time.perf_counter()
        context = extract(request.headers) if settings.TRUSTED_PROXIES else None
        with self._tracer.start_as_current_span(str(request.method), context, SpanKind.SERVER) as span:
            response = self.get_response(request)
            facts = _facts(request, response)
            span.update_name(f"{request.method} {facts['http.route']}")
            span.set_attributes({**facts, "fqc.request_id": response.headers.get("X-Request-ID", "")})
            if response.status_code >= 500:
                span.set_status(StatusCode.ERROR)
        self._seconds.record(time.perf_counter() - started, facts)
        return response


def _facts(request: HttpRequest, response: HttpResponseBase) -> dict[str, str | int]:
    route = _route(request.resolver_match.route) if request.resolver_match else UNKNOWN
    method = str(request.method)
    return {"http.request.method": method, "http.route": route, "http.response.status_code": response.status_code}


def _route(pattern: str) -> str:
    """Returns Django's route as the API contract writes it; `/*` for the console's, which matches everything."""
    plain = PARAMETER.sub(lambda found: f"{{{found['named'] or found['typed']}}}", pattern)
    return "/" + ("*" if "*" in plain else re.sub(r"[\^$]|\\Z", "", plain))


def _hand_over(headers: dict[str, Any], **_: object) -> None:
    from opentelemetry.propagate import inject

    inject(headers)


def _task_begins(task: Any, **_: object) -> None:
    from opentelemetry import context, trace
    from opentelemetry.propagate import extract

    brought = extract({"traceparent": getattr(task.request, "traceparent", None) or ""})
    span = trace.get_tracer(__name__).start_span(task.name, brought, trace.SpanKind.CONSUMER)
    task.request.telemetry = span, context.attach(trace.set_span_in_context(span)), time.perf_counter()


@cache
def _task_seconds() -> Any:
    from opentelemetry import metrics

    return metrics.get_meter(__name__).create_histogram("fqc.task.duration", "s", "How long tasks took.")


def _task_ends(task: Any, state: str | None = None, **_: object) -> None:
    from opentelemetry import context, trace

    span, token, started = task.request.telemetry
    context.detach(token)
    if state == "FAILURE":
        span.set_status(trace.StatusCode.ERROR)
    span.end()
    _task_seconds().record(time.perf_counter() - started, {"fqc.task": task.name, "fqc.state": str(state)})
