"""Tasks that are sent by name exist in the workers, and a broker that is down is waited for only once."""

import socket
import subprocess
import sys
import threading

import pytest
from celery import current_app
from kombu import Connection, Exchange, Queue

from controlplane.changes.delivery import deliver
from controlplane.rollouts.delivery import deliver_advance, deliver_item
from testing.workers import BACKEND, environment_of, until


@pytest.mark.parametrize("send", [deliver, deliver_advance, deliver_item])
def test_a_task_that_is_sent_exists(send, monkeypatch):
    sent = []
    monkeypatch.setattr(current_app, "send_task", lambda name, arguments: sent.append(name))
    send("some-id")
    current_app.loader.import_default_modules()
    assert sent[0] in current_app.tasks


SEND = """
import django
django.setup()
from config.celery import app
from controlplane.core.delivery import task_send
for number in range(20):
    task_send("changes.apply", str(number))
"""


@pytest.mark.django_db
@pytest.mark.parametrize("url", ["redis://127.0.0.1:{port}/0", "amqp://127.0.0.1:{port}//"])
def test_a_broker_that_hangs_is_waited_for_once_and_not_for_everything_that_is_told(url):
    """Many messages to a broker that accepts connections and never answers cost few connections.

    A sweep finds the work that was not sent.
    """
    with socket.create_server(("127.0.0.1", 0)) as silent:
        connections = []

        def accept():
            while True:
                try:
                    connections.append(silent.accept()[0])
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        place = environment_of(FQC_BROKER_URL=url.format(port=silent.getsockname()[1]))
        subprocess.run([sys.executable, "-c", SEND], cwd=BACKEND, env=place, check=True, timeout=300)
    assert 1 <= len(connections) < 10
    for each in connections:
        each.close()


TALK = """
import sys, django
django.setup()
from controlplane.core.delivery import BROKER
for line in sys.stdin:
    BROKER._again_at = 0.0  # whatever it took to notice that nobody is there
    BROKER.send("changes.apply", line.strip())
    print("told", flush=True)
"""


@pytest.mark.django_db
@pytest.mark.parametrize("broker", ["redis", "rabbitmq"], indirect=True)
def test_a_broker_that_came_back_is_told_by_the_process_that_knew_it_before(broker):
    def told(subject):
        process.stdin.write(f"{subject}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "told\n"

    def waiting():
        with Connection(broker.url) as connection:
            queue = Queue("celery", Exchange("celery"), routing_key="celery")
            return queue(connection.default_channel).queue_declare().message_count

    place = environment_of(FQC_BROKER_URL=broker.url)
    words, pipe = [sys.executable, "-c", TALK], subprocess.PIPE
    with subprocess.Popen(words, cwd=BACKEND, env=place, stdin=pipe, stdout=pipe, text=True) as process:
        told("before")
        assert waiting() == 1
        broker.stop()
        told("meanwhile")
        broker.start()
        kept = waiting()  # the number of messages that this broker stores
        # A message that is written while the connection breaks may be lost; a sweep finds its work.
        until(lambda: told("after") or waiting() > kept, "the broker hears of what comes after")
        process.stdin.close()
