"""While the database is down requests are refused; when it is back, no process has to be restarted."""

import json
import os
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from testing import postgres
from testing.ports import free_port
from testing.workers import until

BACKEND = Path(__file__).parents[2]


@pytest.fixture
def cluster():
    with postgres.cluster() as made:
        yield made


@pytest.fixture
def web(cluster, tmp_path):
    port = free_port()
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "FQC_RUN_DIR": str(tmp_path),
        "FQC_DATABASE_URL": cluster.url,
        "FQC_LOG_LEVEL": "WARNING",
    }
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--skip-checks", "-v", "0"], cwd=BACKEND, env=environment, check=True
    )
    words = [sys.executable, "-m", "config.web", "--port", str(port), "--log-level", "critical"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(words, cwd=BACKEND, env=environment, stdout=log, stderr=log)
    yield f"http://127.0.0.1:{port}"
    process.terminate()
    process.wait()


def ask(url):
    request = urllib.request.Request(url, headers={"Authorization": "Bearer fqc_aaaaaaaa_" + "x" * 43})
    try:
        with urllib.request.urlopen(request, timeout=180) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except OSError:
        return None, None


def test_a_database_that_was_restarted_is_used_again(cluster, web, tmp_path):
    until(lambda: ask(web + "/readyz")[0] == 200, "the web process is ready")
    assert ask(web + "/api/v1/instances")[0] == 401  # 401 shows that the token was looked up
    cluster.stop()
    assert ask(web + "/readyz")[0] == 503
    status, problem = ask(web + "/api/v1/instances")
    assert (status, problem["code"]) == (503, "unavailable")
    assert ask(web + "/healthz")[0] == 200
    log = (tmp_path / "log").read_text()
    assert "Traceback" not in log
    [told] = [line for line in map(json.loads, log.splitlines()) if line["event"] == "request_failed"]
    assert "connection" in told["error"]
    assert "refused" in log  # from the pool, which tried to connect
    cluster.start()
    assert ask(web + "/readyz")[0] == 200
    assert ask(web + "/api/v1/instances")[0] == 401
