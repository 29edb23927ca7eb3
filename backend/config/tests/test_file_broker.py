"""Readers of the embedded broker only see complete messages.

kombu stores bindings per process, so each test that declares some uses names of its own.
"""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from queue import Empty

import pytest
from kombu import Connection, Exchange, Queue
from kombu.exceptions import ChannelError

from config.celery import app
from config.file_broker import Channel, Transport

BACKEND = Path(__file__).parents[2]
MESSAGES = 200


def connection(folder: Path) -> Connection:
    options = {
        "data_folder_in": str(folder),
        "data_folder_out": str(folder),
        "control_folder": str(folder / "control"),
        "polling_interval": 0.001,
    }
    return Connection("filesystem://", transport=Transport, transport_options=options)


def test_workers_use_it():
    with app.connection_for_read() as opened:
        assert isinstance(opened.default_channel, Channel)


def test_a_message_has_no_name_until_it_is_complete(tmp_path, monkeypatch):
    seen = []

    def look(payload):
        seen.append([path.name for path in tmp_path.glob("*.msg")])
        return json.dumps(payload)

    monkeypatch.setattr("config.file_broker.dumps", look)
    with connection(tmp_path) as opened:
        opened.default_channel._put("q", {"body": 1})
        assert seen == [[]]
        assert opened.default_channel._get("q") == {"body": 1}
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == []


def reader(folder: Path) -> subprocess.Popen[str]:
    """Starts a process that takes messages from the embedded broker in `folder`.

    It prints the number in each, and ends after the number -1.
    """
    code = f"""
from pathlib import Path
from config.tests.test_file_broker import connection, take
with connection(Path({str(folder)!r})) as opened:
    while (number := take(opened)) != -1:
        print(number, flush=True)
"""
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "FQC_RUN_DIR": str(folder / "run")}
    words = [sys.executable, "-c", code]
    return subprocess.Popen(words, cwd=BACKEND, env=environment, stdout=subprocess.PIPE, text=True)


def take(opened: Connection) -> int:
    while True:
        try:
            return opened.default_channel._get("q")["number"]
        except Empty:
            time.sleep(0.001)  # as a worker does between two looks


def test_readers_beside_writers_meet_whole_messages_in_their_order_and_each_goes_to_one(tmp_path):
    readers = [reader(tmp_path) for _ in range(2)]
    with connection(tmp_path) as opened:
        for number in range(MESSAGES):
            opened.default_channel._put("q", {"number": number, "filling": "x" * 5000})
        for _ in readers:
            opened.default_channel._put("q", {"number": -1})
    got = [[int(line) for line in one.communicate(timeout=300)[0].split()] for one in readers]
    assert [one.returncode for one in readers] == [0, 0]
    assert sorted(got[0] + got[1]) == list(range(MESSAGES))
    assert all(numbers == sorted(numbers) for numbers in got)
    assert list(tmp_path.glob("*.msg")) == list(tmp_path.glob(".*.taken")) == []


def test_what_a_writer_left_that_died_is_no_message(tmp_path, monkeypatch):
    def die(*_):
        raise KeyboardInterrupt

    with connection(tmp_path) as opened:
        with monkeypatch.context() as dying, pytest.raises(KeyboardInterrupt):
            dying.setattr(Path, "rename", die)
            opened.default_channel._put("q", {"body": 1})
        assert list(tmp_path.glob(".*.draft")) != []
        assert opened.default_channel._size("q") == 0
        with pytest.raises(Empty):
            opened.default_channel._get("q")


def test_a_message_that_cannot_be_written_leaves_nothing(tmp_path):
    with connection(tmp_path) as opened:
        with pytest.raises(ChannelError, match="cannot write"):
            opened.default_channel._put("no/such/folder", {"body": 1})
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_damaged_message_is_passed_over(tmp_path):
    (tmp_path / "0_a.q.msg").write_bytes(b"")
    with connection(tmp_path) as opened:
        opened.default_channel._put("q", {"body": 2})
        assert opened.default_channel._get("q") == {"body": 2}


def test_damaged_bindings_are_declared_anew(tmp_path):
    (tmp_path / "control").mkdir()
    (tmp_path / "control" / "damaged.exchange").write_text('[["", "", "q')
    with connection(tmp_path) as opened:
        assert opened.default_channel.get_table("damaged") == []
        Queue("q1", Exchange("damaged", type="fanout"))(opened.default_channel).declare()
        assert [row.queue for row in opened.default_channel.get_table("damaged")] == ["q1"]


def test_a_deleted_queue_takes_its_messages_and_its_binding_along(tmp_path):
    with connection(tmp_path) as opened:
        channel = opened.default_channel
        for name in ("d1", "d2"):
            Queue(name, Exchange("deleted", type="fanout"))(channel).declare()
            channel._put(name, {"body": name})
        channel.queue_delete("d1")
        assert [row.queue for row in channel.get_table("deleted")] == ["d2"]
        assert (channel._size("d1"), channel._size("d2")) == (0, 1)


def test_bindings_are_read_whole_while_others_bind(tmp_path):
    exchange = Exchange("control", type="fanout")
    errors = []

    def bind(name):
        try:
            with connection(tmp_path) as opened:
                Queue(name, exchange)(opened.default_channel).declare()
                opened.default_channel.get_table("control")
        except ValueError as error:
            errors.append(error)

    threads = [threading.Thread(target=bind, args=(f"q{number}",)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with connection(tmp_path) as opened:
        assert {row.queue for row in opened.default_channel.get_table("control")} == {f"q{n}" for n in range(20)}
