"""The embedded broker shows its readers only what is complete."""

import json
import threading
from pathlib import Path

from kombu import Connection, Exchange, Queue
from kombu.transport import filesystem

from config.celery import app
from config.file_broker import Channel, Transport

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


def test_readers_beside_writers_meet_whole_messages_in_their_order(tmp_path):
    got = []

    def read():
        with connection(tmp_path) as opened:
            while len(got) < MESSAGES:
                try:
                    got.append(opened.default_channel._get("q")["number"])
                except filesystem.Empty:
                    continue

    reader = threading.Thread(target=read)
    reader.start()
    with connection(tmp_path) as opened:
        for number in range(MESSAGES):
            opened.default_channel._put("q", {"number": number, "filling": "x" * 5000})
    reader.join(30)
    assert got == list(range(MESSAGES))


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
