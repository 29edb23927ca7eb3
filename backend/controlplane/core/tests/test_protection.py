"""What every answer carries to protect the browser."""

import os
import subprocess
import sys

import pytest

from controlplane.audit.models import AuditEvent
from testing.workers import BACKEND

PAGES = ("/", "/instances/any", "/api/v1/auth/session", "/api/v1/instances", "/healthz", "/no/such.file")
ASK = """
import django
django.setup()
from django.test import Client
for secure in (False, True):
    answer = Client(SERVER_NAME="fqc.example").get("/api/v1/auth/session", secure=secure)
    print(answer.status_code, answer.headers.get("Location"), answer.headers.get("Strict-Transport-Security"))
print(answer.cookies.output())
"""


@pytest.mark.django_db
@pytest.mark.parametrize("path", PAGES)
def test_every_answer_lets_nothing_foreign_in(outsider, path):
    headers = outsider.get(path).headers
    policy = dict(each.strip().split(" ", 1) for each in headers["Content-Security-Policy"].split(";"))
    assert (policy["default-src"], policy["script-src"], policy["frame-ancestors"]) == ("'self'", "'self'", "'none'")
    assert (headers["X-Frame-Options"], headers["X-Content-Type-Options"]) == ("DENY", "nosniff")
    assert headers["Referrer-Policy"] == "same-origin"
    assert len(headers["X-Request-ID"]) >= 8


@pytest.mark.parametrize(
    ("wanted", "more"),
    [
        ({}, ""),
        ({"FQC_HSTS_SUBDOMAINS": "true"}, "; includeSubDomains"),
        ({"FQC_HSTS_SUBDOMAINS": "true", "FQC_HSTS_PRELOAD": "true"}, "; includeSubDomains; preload"),
    ],
)
def test_behind_tls_cookies_are_secure_and_nothing_is_answered_without_it(tmp_path, wanted, more):
    variables = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "FQC_RUN_DIR": str(tmp_path),
        "FQC_PUBLIC_URL": "https://fqc.example",
        "FQC_ALLOWED_HOSTS": "fqc.example",
        "FQC_DATABASE_URL": "",
        **wanted,
    }
    done = subprocess.run([sys.executable, "-c", ASK], cwd=BACKEND, env=variables, capture_output=True, text=True)
    plain, encrypted, cookie = done.stdout.splitlines()
    assert plain == "301 https://fqc.example/api/v1/auth/session None"
    assert encrypted == f"200 None max-age=31536000{more}"
    assert "Secure" in cookie and "SameSite=Lax" in cookie


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("brought", "kept"), [("build-1234.5", True), ("a b", False), ("x" * 65, False), ("é" * 9, False)]
)
def test_a_callers_request_id_is_kept_if_it_is_a_plain_word_and_is_on_record(operator, brought, kept):
    made = operator.post("/api/v1/tokens", {"name": "x", "scope": "viewer"}, HTTP_X_REQUEST_ID=brought)
    assert (made.headers["X-Request-ID"] == brought) is kept
    assert AuditEvent.objects.filter(request_id=made.headers["X-Request-ID"], action="token.created").count() == 1
