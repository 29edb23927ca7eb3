"""A run of tests that is killed leaves no server and no folder."""

import subprocess
import sys
from pathlib import Path

from controlplane.gateway.process import has_ended
from testing.workers import BACKEND, environment_of, until

RUN = """
import sys, django
from django.conf import settings
django.setup()
from testing.servers import servers
with servers() as make:
    print(settings.RUN_DIR, make().pid, flush=True)
    sys.stdin.read()
"""


def test_a_run_that_is_killed_leaves_no_server_and_no_folder():
    environment = environment_of(DJANGO_SETTINGS_MODULE="testing.settings", FQC_TEST_DATABASE_URL="")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    run = subprocess.Popen([sys.executable, "-c", RUN], cwd=BACKEND, env=environment, **pipes)
    folder, pid = run.stdout.readline().split()
    assert Path(folder, "local").is_dir()
    assert not has_ended(int(pid), 0)
    run.kill()
    run.communicate()
    until(lambda: has_ended(int(pid), 0), "the server is ended")
    until(lambda: not Path(folder).exists(), "the folder is removed")
