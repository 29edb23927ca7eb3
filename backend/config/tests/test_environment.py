import os
import subprocess
import sys
from pathlib import Path

import pytest

from config import environment
from config.environment import BadEnvironment
from config.secrets_file import kept_secret

BACKEND = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FQC_DEBUG", "perhaps"),
        ("FQC_LOCAL_PORT_BASE", "80"),
        ("FQC_LOCAL_PORT_BASE", "many"),
        ("FQC_ENDPOINT_NETWORKS", "10.0.0.1/8"),
        ("FQC_MAIL_NETWORKS", "everywhere"),
        ("FQC_PUBLIC_URL", "example.com"),
        ("FQC_HSTS_PRELOAD", "true"),
        ("FQC_OTLP_ENDPOINT", "collector:4318"),
        ("FQC_LOG_LEVEL", "loud"),
        ("FQC_OIDC_ISSUER", "http://login.example.com"),
        ("FQC_OIDC_ISSUER", "https://login.example.com"),  # and no group of any role
        ("FQC_OIDC_SCOPES", "profile"),
        ("FQC_OIDC_REFRESH_SECONDS", "1801"),
        ("FQC_PASSWORD_LOGIN", "false"),
        ("FQC_AUDIT_RETENTION_DAYS", "-1"),
        ("FQC_INCIDENT_RETENTION_DAYS", "36501"),
        ("FQC_MAIL_RETENTION_DAYS", "0"),
        ("FQC_TOKEN_RETENTION_DAYS", "0"),
    ],
)
def test_a_value_that_cannot_be_stops_the_start_and_is_named(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(BadEnvironment, match=name):
        environment.read()


def test_database_urls(tmp_path):
    facts = environment.database("postgresql://fqc:p%40ss@db.example:5433/control", tmp_path)
    assert (facts["USER"], facts["PASSWORD"], facts["HOST"], facts["PORT"]) == ("fqc", "p@ss", "db.example", "5433")
    assert environment.database("", tmp_path)["NAME"] == str(tmp_path / "db.sqlite3")
    with pytest.raises(BadEnvironment, match="FQC_DATABASE_URL"):
        environment.database("mysql://x", tmp_path)


def test_a_secret_is_made_once_and_for_its_owner_alone(tmp_path):
    file = tmp_path / "secrets" / "key"
    assert kept_secret(file) == kept_secret(file)
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_deployment_with_tls_passes_djangos_own_check(tmp_path):
    variables = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "FQC_RUN_DIR": str(tmp_path),
        "FQC_PUBLIC_URL": "https://fqc.example.com",
        "FQC_ALLOWED_HOSTS": "fqc.example.com",
        "FQC_DATABASE_URL": "",
    }
    words = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    done = subprocess.run(words, cwd=BACKEND, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
