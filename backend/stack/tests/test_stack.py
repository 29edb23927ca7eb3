"""A whole stack: what `up` starts answers, a second `up` changes nothing, and `down` leaves nothing behind."""

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from stack import record
from stack.fleet import Instance
from stack.layout import BACKEND, RunDir
from stack.owner import as_owner
from stack.ports import LOOPBACK, WEB_SETTING
from stack.process import Identity, marked, send
from stack.waiting import wait_until
from stack.workload import Account


def run(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "stack", *arguments]
    return subprocess.run(command, cwd=BACKEND, env=os.environ | settings, capture_output=True, text=True, check=False)


def up(run_dir: RunDir) -> dict[str, Any]:
    done = run("up", "--run-dir", str(run_dir.root), "--ports", "auto", "--count", "1", "--json")
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def down(run_dir: RunDir) -> None:
    done = run("down", "--run-dir", str(run_dir.root))
    assert done.returncode == 0, done.stderr


def pids(run_dir: RunDir) -> dict[str, Identity]:
    return record.load(run_dir.record).running()


@pytest.fixture(scope="module")
def stack() -> Iterator[tuple[RunDir, dict[str, Any]]]:
    with tempfile.TemporaryDirectory(prefix="fqc-stack-") as folder:
        run_dir = RunDir(Path(folder) / "run")
        try:
            yield run_dir, up(run_dir)
        finally:
            down(run_dir)


Stack = tuple[RunDir, dict[str, Any]]


def test_the_console_and_the_server_answer_on_loopback(stack: Stack) -> None:
    _, running = stack
    with urllib.request.urlopen(running["address"], timeout=60) as page:
        assert "<div id=" in page.read().decode()
    (instance,) = running["instances"]
    assert (instance["host"], instance["has_engine"]) == (LOOPBACK, True)
    socket.create_connection((instance["host"], instance["port"]), timeout=60).close()


def test_the_near_cache_passes_on_what_it_is_asked(stack: Stack) -> None:
    _, running = stack
    (server,) = (Instance(**each) for each in running["instances"])
    assert running["near_cache"]["instance"] == server.name
    through = Account("", 0, server.username, server.password, socket=running["near_cache"]["socket"])
    with through.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT @@port")
        assert cursor.fetchall() == ((server.port,),)


def test_no_log_tells_a_password(stack: Stack) -> None:
    run_dir, running = stack
    secrets = {running["admin"]["password"], *(instance["password"] for instance in running["instances"])}
    secrets.add((run_dir.root / "near-password").read_text().strip())
    logs = list(run_dir.logs.glob("*.log"))
    assert run_dir.log("ensure-admin") in logs
    assert {log.name: word for log in logs for word in secrets if word in log.read_text(errors="replace")} == {}


def open_to_others(folder: Path) -> dict[str, str]:
    """Returns the paths in a folder that other users of the machine could read, write or enter, with their modes."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        with suppress(FileNotFoundError):  # messages of the broker come and go
            if (mode := path.lstat().st_mode) & 0o077 and not path.is_symlink():
                found[str(path.relative_to(folder))] = oct(mode)
    return found


def is_closed(path: Path) -> bool:
    """Returns whether other users of the machine have no access to this file. False if there is no such file."""
    with suppress(FileNotFoundError):
        return not path.stat().st_mode & 0o077
    return False


def test_nothing_of_a_stack_is_open_to_other_users_of_the_machine(stack: Stack) -> None:
    run_dir, _ = stack
    found = [run_dir.root / name for name in ("db.sqlite3", "secrets", "logs", "local", "admin-password", "broker")]
    assert all(path.exists() for path in found)
    assert open_to_others(run_dir.root) == {}


def test_a_second_up_changes_nothing(stack: Stack) -> None:
    run_dir, running = stack
    before = pids(run_dir)
    assert up(run_dir) == running
    assert pids(run_dir) == before


def test_status_tells_what_died_and_up_brings_it_back(stack: Stack) -> None:
    run_dir, running = stack
    worker = pids(run_dir)["worker"]
    send(worker, signal.SIGKILL)
    assert wait_until(lambda: "worker" not in pids(run_dir), 60)
    told = run("status", "--run-dir", str(run_dir.root))
    assert told.returncode == 3
    assert "worker       stopped" in told.stdout
    assert up(run_dir)["address"] == running["address"]
    assert set(pids(run_dir)) == {"web", "worker", "scheduler", "near"}
    # Dead workers must not have a control queue.
    queues = (run_dir.root / "broker" / "control").glob("*.exchange")
    assert not [path.name for path in queues if "celeryev" in path.read_text()]


def test_up_closes_what_an_earlier_version_left_open(stack: Stack) -> None:
    run_dir, _ = stack
    down(run_dir)
    for path in (run_dir.root, *run_dir.root.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() else 0o644)
    up(run_dir)
    assert stat.S_IMODE(run_dir.root.stat().st_mode) == 0o700
    closed = ["db.sqlite3", "secrets", "local", "logs", "admin-password", "stack.json"]
    assert [name for name in closed if not is_closed(run_dir.root / name)] == []
    # SQLite keeps this file only while a process has the database open.
    assert wait_until(lambda: is_closed(run_dir.root / "db.sqlite3-wal"), 60)
    (server,) = (run_dir.root / "local").iterdir()
    assert open_to_others(server) == {}


def test_down_leaves_nothing_running_and_up_finds_its_data(stack: Stack) -> None:
    run_dir, running = stack
    down(run_dir)
    assert marked(record.load(run_dir.record).stack_id) == []
    again = up(run_dir)
    assert [one["id"] for one in again["instances"]] == [one["id"] for one in running["instances"]]
    assert again["admin"] == running["admin"]


def test_the_demo_enables_the_cache_through_a_change_set_and_is_served_from_it(stack: Stack) -> None:
    run_dir, _ = stack
    done = run("demo", "--run-dir", str(run_dir.root), "--seconds", "3")
    assert done.returncode == 0, done.stderr
    assert "enabling the cache on" in done.stderr
    again = run("demo", "--run-dir", str(run_dir.root), "--seconds", "1")
    assert "enabling" not in again.stderr


def test_a_mysql_server_joins_the_fleet_and_everybody_is_told_what_its_engine_does_there(stack: Stack) -> None:
    if not Path(os.environ.get("FQC_MYSQLD", "")).is_file():
        pytest.skip("NO MYSQL SERVER IS HERE: set FQC_MYSQLD, or run scripts/fetch-server MySQL tested")
    run_dir, _ = stack
    told = run("up", "--run-dir", str(run_dir.root), "--ports", "auto", "--count", "1", "--product", "MySQL")
    assert told.returncode == 0, told.stderr
    *_, mysql = (Instance(**each) for each in up(run_dir)["instances"])
    assert (mysql.product, mysql.has_engine) == ("MySQL", True)
    assert mysql.engine in told.stdout
    done = run("demo", "--run-dir", str(run_dir.root), "--seconds", "2")
    assert done.returncode == 0, done.stderr
    said = f"enabling the cache on {mysql.name}" if mysql.is_serving else f"{mysql.engine}; its reads are not cached"
    assert said in done.stderr


def test_a_demo_ends_by_itself_once_its_account_is_another_demos(stack: Stack) -> None:
    run_dir, running = stack
    command = [sys.executable, "-m", "stack", "demo", "--run-dir", str(run_dir.root)]
    with subprocess.Popen(command, cwd=BACKEND, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as first:
        try:
            assert first.stderr is not None
            assert "reading and writing" in next(line for line in first.stderr if "reading" in line)
            other = run("demo", "--run-dir", str(run_dir.root), "--seconds", "1")
            assert other.returncode == 0, other.stderr
            # Only a new connection is asked for its password.
            server = running["instances"][0]
            with as_owner(Instance(**server)) as connection, connection.cursor() as cursor:
                cursor.execute("KILL USER 'demo'@'127.0.0.1'")
            assert first.wait(timeout=120) == 0
        finally:
            first.kill()


def test_a_taken_port_stops_up_and_names_the_setting() -> None:
    with socket.socket() as taken, tempfile.TemporaryDirectory(prefix="fqc-") as run_dir:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = run("up", "--run-dir", run_dir, **{WEB_SETTING: port})
    assert done.returncode == 1
    assert f"port {port}" in done.stderr
    assert WEB_SETTING in done.stderr


def test_a_run_directory_too_deep_for_sockets_is_refused(tmp_path: Path) -> None:
    done = run("up", "--run-dir", str(tmp_path / ("deep" * 20)))
    assert done.returncode == 1
    assert "choose a shorter one" in done.stderr


def test_reset_refuses_a_folder_that_is_not_a_stack(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    done = run("reset", "--run-dir", str(tmp_path))
    assert done.returncode == 1
    assert "not a stack's run directory" in done.stderr
    assert (tmp_path / "precious").read_text() == "mine"


def test_reset_forgets_the_data_of_a_stack(tmp_path: Path) -> None:
    record.save(tmp_path / "stack.json", record.Record())
    (tmp_path / "db.sqlite3").write_text("data")
    assert run("reset", "--run-dir", str(tmp_path)).returncode == 0
    assert [entry.name for entry in tmp_path.iterdir()] == ["stack.lock"]
