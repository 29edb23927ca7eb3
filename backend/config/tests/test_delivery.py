"""What is sent by name is a task that workers know."""

import pytest
from celery import current_app

from controlplane.changes.delivery import deliver
from controlplane.rollouts.delivery import deliver_advance, deliver_item


@pytest.mark.parametrize("send", [deliver, deliver_advance, deliver_item])
def test_a_task_that_is_sent_exists(send, monkeypatch):
    sent = []
    monkeypatch.setattr(current_app, "send_task", lambda name, arguments: sent.append(name))
    send("some-id")
    current_app.loader.import_default_modules()
    assert sent[0] in current_app.tasks
