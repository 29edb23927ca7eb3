"""Traces and metrics as a collector gets them: OTLP over HTTP, decoded by the protocol's own messages."""

import subprocess
import sys
import threading
import urllib.request
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from config.tests.test_logs import CELERY, logged, web
from testing.ports import free_port
from testing.workers import BACKEND, environment_of, until

__all__ = ["logged"]
SOON = {"OTEL_BSP_SCHEDULE_DELAY": "100", "OTEL_METRIC_EXPORT_INTERVAL": "300"}
SENDING = """
import django; django.setup()
from config import celery, telemetry
telemetry.begin("web")
from opentelemetry import trace
with trace.get_tracer("test").start_as_current_span("asked"):
    celery.app.send_task("rollouts.sweep")
telemetry.end()
"""


class Collector(ThreadingHTTPServer):
    """An OTLP collector on a free port: it keeps every span and metric that it is sent, with the name of the
    service.
    """

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Receiving)
        self.spans, self.metrics = [], []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def take(self, path, body):
        if path == "/v1/traces":
            for each in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.spans += [(service_of(each), span) for scope in each.scope_spans for span in scope.spans]
        elif path == "/v1/metrics":
            for each in ExportMetricsServiceRequest.FromString(body).resource_metrics:
                self.metrics += [(service_of(each), it) for scope in each.scope_metrics for it in scope.metrics]

    def named(self, service, name):
        return [span for of, span in list(self.spans) if (of, span.name) == (service, name)]

    def counted(self, service, name):
        found = [metric for of, metric in list(self.metrics) if (of, metric.name) == (service, name)]
        return [point for metric in found for point in metric.histogram.data_points]


class Receiving(BaseHTTPRequestHandler):
    def do_POST(self):
        self.server.take(self.path, self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def service_of(each):
    return values(each.resource.attributes)["service.name"]


def values(attributes):
    return {each.key: each.value.string_value or each.value.int_value for each in attributes}


@pytest.fixture
def collector():
    server = Collector()
    yield server
    server.shutdown()
    server.server_close()


def asked(port, path, **headers):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    with suppress(urllib.error.HTTPError):
        urllib.request.urlopen(request, timeout=60).read()


OF_A_CALLER = {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01", "tracestate": "vendor=1"}


@pytest.mark.parametrize(("proxies", "is_continued"), [("1", True), ("0", False)])
def test_a_trace_is_continued_only_from_a_trusted_proxy(collector, logged, proxies, is_continued):
    given = {"FQC_OTLP_ENDPOINT": collector.address, "FQC_TRUSTED_PROXIES": proxies, **SOON}
    _, port = web(logged, "-m", "config.web", **given)
    asked(port, "/healthz", **OF_A_CALLER)
    until(lambda: collector.named("fqc-web", "GET /healthz"), "its span arrives", 60)
    [span] = collector.named("fqc-web", "GET /healthz")
    named = (span.trace_id.hex() == "a" * 32, span.parent_span_id.hex() == "b" * 16, span.trace_state == "vendor=1")
    assert named == (is_continued,) * 3
    assert is_continued or span.parent_span_id == b""


def test_a_request_is_a_span_and_is_timed(collector, logged):
    _, port = web(logged, "-m", "config.web", FQC_OTLP_ENDPOINT=collector.address, **SOON)
    asked(port, "/healthz?secret=1", **{"X-Request-ID": "req-of-the-test"})
    asked(port, "/api/v1/instances/a-name")
    until(lambda: collector.named("fqc-web", "GET /api/v1/instances/{pk}"), "its span arrives", 60)
    [span] = collector.named("fqc-web", "GET /healthz")
    facts = values(span.attributes)
    assert (facts["http.response.status_code"], facts["fqc.request_id"]) == (200, "req-of-the-test")
    [span] = collector.named("fqc-web", "GET /api/v1/instances/{pk}")
    assert values(span.attributes)["http.response.status_code"] == 401
    assert "secret" not in str(collector.spans) and "a-name" not in str(collector.spans)
    until(lambda: collector.counted("fqc-web", "http.server.request.duration"), "its time arrives", 60)
    routes = {
        values(point.attributes)["http.route"] for point in collector.counted("fqc-web", "http.server.request.duration")
    }
    assert "/healthz" in routes


@pytest.mark.parametrize("pool", [["--pool", "solo"], ["--concurrency", "1"]])
def test_a_task_continues_the_trace_of_who_sent_it(collector, logged, tmp_path, pool):
    given = {"FQC_OTLP_ENDPOINT": collector.address, **SOON}
    words = [sys.executable, "-c", SENDING]
    environment = environment_of(FQC_RUN_DIR=str(tmp_path), FQC_LOG_LEVEL="ERROR", **given)
    subprocess.run(words, cwd=BACKEND, env=environment, check=True, timeout=300)
    [asked_for] = collector.named("fqc-web", "asked")
    process = logged("-m", *CELERY, "worker", *pool, **given)
    until(lambda: collector.named("fqc-worker", "rollouts.sweep"), "the task's span arrives", 120)
    [task] = collector.named("fqc-worker", "rollouts.sweep")
    assert (task.trace_id, task.parent_span_id) == (asked_for.trace_id, asked_for.span_id)
    process.end()
    assert values(collector.counted("fqc-worker", "fqc.task.duration")[0].attributes) == {
        "fqc.task": "rollouts.sweep",
        "fqc.state": "SUCCESS",
    }


def test_a_collector_that_is_away_holds_up_nobody(logged):
    _, port = web(logged, "-m", "config.web", FQC_OTLP_ENDPOINT=f"http://127.0.0.1:{free_port()}", **SOON)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=60) as answer:
        assert answer.status == 200


def test_nothing_of_it_is_imported_by_default(tmp_path):
    words = "import sys, config.asgi, config.celery; print([name for name in sys.modules if 'opentelemetry' in name])"
    environment = environment_of(FQC_RUN_DIR=str(tmp_path), FQC_OTLP_ENDPOINT="")
    done = subprocess.run(
        [sys.executable, "-c", words], cwd=BACKEND, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
