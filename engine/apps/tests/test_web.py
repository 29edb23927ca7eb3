"""A web server ends with all of its worker processes."""

import os
import sys

import pytest

from lab.web import WebServer, WebServerFailed

# Its worker goes on when the process that started it has ended, as those of PHP do.
SERVER = """
import os, socket, sys, time
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
if os.fork() == 0:
    print("worker", os.getpid(), flush=True)
    while True:
        time.sleep(1)
print("serves", flush=True)
while True:
    listening.accept()
"""


def test_its_workers_end_with_it(tmp_path):
    server = WebServer(lambda port: [sys.executable, "-c", SERVER, str(port)], os.environ, tmp_path)
    while "worker" not in (tmp_path / "web.log").read_text():
        pass
    server.stop()
    worker = next(line for line in (tmp_path / "web.log").read_text().splitlines() if line.startswith("worker"))
    with pytest.raises(ProcessLookupError):
        os.kill(int(worker.split()[1]), 0)


def test_one_that_does_not_start_shows_what_it_printed(tmp_path):
    with pytest.raises(WebServerFailed, match="no such module"):
        WebServer(lambda _: [sys.executable, "-c", "raise SystemExit('no such module')"], os.environ, tmp_path)
