"""A change publishes its progress at every step, so that clients need not poll."""

import pytest

from controlplane.core.models import Event
from testing.changes import asked, run

pytestmark = pytest.mark.django_db


def told(change):
    found = []
    for event in Event.objects.filter(topic="change", subject=change.pk).order_by("id"):
        step, progress = event.facts.get("step"), event.facts.get("progress", {})
        found.append((event.facts["state"], step and (step["kind"], step["name"]), progress.get("done")))
        assert progress.get("total", 3) == 3
    return found


def test_each_step_is_told_with_how_many_are_done(instance):
    change = run(asked(instance, {"long_query_time": "2", "sort_buffer_size": "1M"}))
    names = list(change.steps.values_list("name", flat=True))[:2]
    assert told(change) == [
        ("previewed", None, None),
        ("approved", None, None),
        ("applying", None, 0),
        ("applying", ("set_global", names[0]), 0),
        ("applying", ("set_global", names[1]), 1),
        ("applying", ("write_configuration", ""), 2),
        ("verifying", None, 3),
        ("applied", None, 3),
    ]


def test_each_step_that_is_taken_back_is_told(instance):
    change = asked(instance, {"long_query_time": "4", "table_open_cache": "300"})
    first, second = list(change.steps.values_list("name", flat=True))[:2]
    change.steps.filter(name=second).update(new="not-a-number")
    run(change)
    assert told(change)[3:] == [
        ("applying", ("set_global", first), 0),
        ("applying", ("set_global", second), 1),
        ("applying", None, 1),  # it has failed
        ("applying", None, 1),  # and is undone
        ("applying", None, 0),
        ("rolled_back", None, 0),
    ]


def test_to_tell_of_its_steps_costs_one_statement_each(instance, django_assert_max_num_queries):
    """Each published event costs one INSERT and no queries, since the facts are in memory."""
    before = Event.objects.count()
    change = asked(instance, {"long_query_time": "2", "sort_buffer_size": "1M"})
    with django_assert_max_num_queries(200) as captured:
        run(change)
    written = [query["sql"] for query in captured if query["sql"].startswith('INSERT INTO "core_event"')]
    read = [
        query["sql"] for query in captured if query["sql"].startswith("SELECT") and "changes_changestep" in query["sql"]
    ]
    assert (len(written), len(read)) == (Event.objects.count() - before - 2, 1)
