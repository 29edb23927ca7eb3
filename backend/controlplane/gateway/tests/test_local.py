import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from controlplane.gateway.local import LocalServer, LocalServerError
from controlplane.gateway.process import has_ended, stop

# Runs a command in a namespace where the machine's host name cannot be resolved. Users other than root become root
# there.
NAMELESS = ["unshare", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"]), "--mount", "--uts"]
NAMELESS += ["bash", "-euc", 'hostname nowhere.invalid; mount --bind /dev/null /etc/hosts; exec "$@"', "nameless"]
MAKE = """
import sys
from pathlib import Path
from controlplane.gateway.local import LocalServer
LocalServer(Path(sys.argv[1]), 0, "fqc", "secret").make({})
"""


def test_a_server_starts_stops_and_starts_again(own_server):
    server = own_server()
    first = server.pid
    assert first is not None
    server.start()
    assert server.pid == first
    server.restart()
    assert server.pid not in (None, first)
    server.stop()
    assert server.pid is None


@pytest.mark.parametrize("of", ["this process", "the server"])
def test_a_pid_file_that_names_a_thread_by_now_hides_no_server(own_server, of):
    server = own_server()
    first, pid = server.pid, "self" if of == "this process" else server.pid
    keep, end = threading.Thread(target=(ended := threading.Event()).wait), ended.set
    keep.start()
    try:
        threads = {int(entry.name) for entry in Path(f"/proc/{pid}/task").iterdir()}
        thread = max(threads - {first, os.getpid()})
        (server.folder / "server.pid").write_text(str(thread))
        assert server.pid == first
        assert has_ended(thread, 0)
        stop(thread)
        server.stop()
        assert server.pid is None and has_ended(first, 60)
    finally:
        end()
        keep.join()


def test_a_server_is_not_told_the_control_planes_own_keys_and_passwords(own_server, monkeypatch):
    monkeypatch.setenv("FQC_SEALING_KEYS", "a-key-of-its-own")
    monkeypatch.setenv("FQC_DATABASE_URL", "postgresql://fqc:a-password@127.0.0.1/fqc")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=a-token")
    told = Path(f"/proc/{own_server().pid}/environ").read_text()
    assert "PATH=" in told and not any(secret in told for secret in ("a-key-of-its-own", "a-password", "a-token"))


def test_the_file_with_the_password_is_gone_once_the_account_works(shared_server):
    assert not (shared_server.folder / "account.sql").exists()


def test_configured_values_are_in_force_after_a_restart(own_server):
    server = own_server(has_engine=True)
    server.configure({"max_connections": "77", "query_cache_size": "1048576", "sql_mode": "ANSI,TRADITIONAL"})
    server.restart()
    connection = server.connect()
    assert connection.variable("max_connections") == "77"
    assert connection.variable("query_cache_size") == "1048576"
    assert "ANSI" in connection.variable("sql_mode")
    assert connection.value("SELECT @@GLOBAL.fqc_minor_version") >= 20200331
    connection.close()


def test_databases_are_made_on_a_machine_that_cannot_look_up_its_own_name(tmp_path):
    if subprocess.run([*NAMELESS, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system grants no namespaces")
    folder = tmp_path / "server"
    made = subprocess.run([*NAMELESS, sys.executable, "-c", MAKE, folder], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    assert LocalServer(folder, 0, "fqc", "secret").is_made


def test_address_space_for_the_pool_is_less_than_the_machine_has(shared_server):
    """The largest buffer pool leaves 8 MiB of the machine's memory: Linux refuses to reserve more, and the amount that
    the server reserves in addition varies from start to start.
    """
    machine_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    connection = shared_server.connect()
    reserved = connection.rows("SHOW GLOBAL VARIABLES LIKE 'innodb_buffer_pool_size_max'")
    connection.close()
    assert all(int(value) + 8 * 1024**2 < machine_bytes for _, value in reserved)


def test_a_server_that_cannot_start_says_why_as_soon_as_it_has_ended(own_server, monkeypatch):
    server = own_server()
    server.stop()
    server.configure({"collation_server": "no_such_collation"})
    monkeypatch.setattr("controlplane.gateway.local.READY_SECONDS", float("inf"))
    with pytest.raises(LocalServerError, match="no_such_collation"):
        server.start()
    server.configure({"collation_server": "neither_this_one"})
    with pytest.raises(LocalServerError, match="neither_this_one") as told:
        server.start()
    assert "no_such_collation" not in str(told.value)


@pytest.mark.parametrize(
    ("logged", "told"),
    [
        ("[ERROR] unknown variable 'max_connections=7'", "[ERROR] unknown variable 'max_connections=7'"),
        ("[ERROR] 1064 near 'a-kept'secret' at line 1", "[ERROR] 1064 near '...'"),
        ('[ERROR] cannot parse "a-kept-secret', "[ERROR] cannot parse '...'"),
        ("[ERROR] Can't start server: Bind on port", "[ERROR] Can't start server: Bind on port"),
    ],
)
def test_of_a_servers_log_only_what_was_configured_is_quoted(tmp_path, logged, told):
    server = LocalServer(tmp_path, 1, "fqc", "secret")
    server.configure({"max_connections": "7"})
    server.log.write_text(logged + "\n")
    assert server._failure(0).endswith(f"did not start: {told}")


def test_a_taken_port_is_told_before_anything_is_started(own_server):
    server = own_server()
    server.stop()
    with socket.create_server(("127.0.0.1", server.port)), pytest.raises(LocalServerError, match=f"port {server.port}"):
        server.start()
    assert server.pid is None


def test_a_pid_file_that_names_another_process_is_not_believed(own_server):
    server = own_server()
    server.stop()
    (server.folder / "server.pid").write_text(str(os.getpid()))
    assert server.pid is None
    server.stop()


def test_a_server_without_a_pid_file_is_known_and_ends_with_its_removal(own_server):
    server = own_server()
    pid = server.pid
    (server.folder / "server.pid").unlink()  # the state before the file was written
    assert server.pid == pid
    server.remove()
    assert has_ended(pid, 0)
    assert not server.folder.exists()


def test_a_server_starts_without_what_is_no_option_of_it(own_server):
    server = own_server()
    server.configure({"time_zone": "+00:00", "long_query_time": "3"})  # time_zone is a variable without an option
    server.restart()
    connection = server.connect()
    assert float(connection.variable("long_query_time")) == 3
    connection.close()


def test_where_a_server_listens_and_keeps_its_files_is_not_configured(own_server):
    server = own_server()
    own = ("bind_address", "plugin_dir", "log_error", "tmpdir", "datadir", "port")
    connection = server.connect()
    before = [connection.variable(name) for name in own]
    connection.close()
    others = ("0.0.0.0", str(server.folder), "/dev/null", "/", "/", "1")
    server.configure(dict(zip(own, others, strict=True)))
    server.restart()
    connection = server.connect()
    assert [connection.variable(name) for name in own] == before
    connection.close()


@pytest.mark.parametrize(
    "text",
    [
        r"SET @a = 'C:\new\temp\r\s\0'", '"', "'", "\\", 'say "no" # yes', "'a' # b", "!include /etc/passwd", "; x = 1",
        " ", "[mariadbd]", "é" * 1900, '"' * 1900, "x" * 3880,
    ],
)  # fmt: skip
def test_a_text_is_read_from_the_option_file_as_it_was_written(tmp_path, text):
    server = LocalServer(tmp_path, 1, "nobody", "secret")
    server.configure({"init_connect": text})
    command = ["my_print_defaults", f"--defaults-file={tmp_path / 'configured.cnf'}", "mariadbd"]
    read = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    assert read == f"--loose-init_connect={text}\n"


@pytest.mark.parametrize(
    "text",
    ["SELECT 1\nskip-grant-tables", "a\rb", "a\0b", "a" * 4080 + "skip-grant-tables #", '"' * 2100, "é" * 2000],
)
def test_a_text_that_would_be_read_as_another_line_is_never_written(shared_server, text):
    with pytest.raises(LocalServerError, match="one line"):
        shared_server.configure({"init_connect": text})
