"""Which instances use a template, and which of them differ from it."""

import pytest
from django.db.models import F

from controlplane.changes.models import ChangeSet
from controlplane.fleet.models import Instance
from controlplane.parameters.services import template_create, template_update
from testing.changes import changed, run

pytestmark = pytest.mark.django_db


@pytest.fixture
def template():
    values = {"long_query_time": "2", "sort_buffer_size": "{DBInstanceClassMemory/1024}"}
    return template_create(name="slow-log", engine_line="5.7", values=values)


def apply(operator, instance, template, **facts):
    body = {"template": template.name, "apply": True, **facts}
    answer = operator.post(f"/api/v1/instances/{instance.pk}/changes", body)
    assert answer.status_code == 201, answer.json()
    change = run(ChangeSet.objects.get(pk=answer.json()["id"]))
    assert change.state == "applied", change.outcome_detail
    return answer.json()


def uses(client, template):
    return client.get(f"/api/v1/templates/{template.pk}/instances").json()["items"]


def test_an_instance_that_was_given_a_template_is_in_step_with_it(operator, viewer, instance, template):
    assert uses(viewer, template) == []
    change = apply(operator, instance, template)
    assert (change["template"], change["template_version"]) == (template.pk, 1)
    (use,) = uses(viewer, template)
    assert (use["instance"], use["instance_name"], use["version"]) == (instance.pk, instance.name, 1)
    assert (use["is_in_step"], use["differing_count"], use["differences"]) == (True, 0, [])
    assert (use["applied_by"], use["applied_at"] is not None) == (operator.user.username, True)


def test_a_later_change_and_a_newer_version_show_as_differences(operator, viewer, instance, template):
    apply(operator, instance, template)
    changed(instance, {"long_query_time": "3"})
    template_update(template=template, values={"sort_buffer_size": "1M", "max_connections": "77"})
    (use,) = uses(viewer, template)
    assert (use["version"], use["is_in_step"], use["differing_count"]) == (1, False, 3)
    assert use["differences"] == [
        {"name": "long_query_time", "configured": "3", "wanted": "2"},
        {"name": "max_connections", "configured": None, "wanted": "77"},
        {"name": "sort_buffer_size", "configured": "{DBInstanceClassMemory/1024}", "wanted": "1M"},
    ]


def test_another_spelling_is_no_difference_and_what_is_beside_the_template_is_not_its_affair(
    operator, viewer, instance, template
):
    apply(operator, instance, template)
    changed(instance, {"sort_buffer_size": "{ DBInstanceClassMemory / 1024 }", "max_connections": "77"})
    assert uses(viewer, template)[0]["is_in_step"]


def test_a_template_that_replaces_everything_leaves_no_other_in_use(operator, viewer, instance, template):
    other = template_create(name="other", engine_line="5.7", values={"long_query_time": "3"})
    apply(operator, instance, template)
    apply(operator, instance, other)
    assert len(uses(viewer, template)) == 1
    apply(operator, instance, other, replace=True)
    assert uses(viewer, template) == []
    assert len(uses(viewer, other)) == 1


def test_a_change_that_failed_leaves_the_template_unused(operator, viewer, instance, template):
    answer = operator.post(f"/api/v1/instances/{instance.pk}/changes", {"template": template.pk, "apply": True})
    Instance.objects.filter(pk=instance.pk).update(version=F("version") + 1)  # as if it was changed
    assert run(ChangeSet.objects.get(pk=answer.json()["id"])).state == "rolled_back"
    assert uses(viewer, template) == []


def test_asking_takes_the_same_queries_for_many_instances(
    operator, viewer, instance, template, django_assert_max_num_queries
):
    from controlplane.fleet.template_uses import template_use_note
    from controlplane.metrics.tests.fleet import instance_make

    for _ in range(20):
        template_use_note(instance_make(), template, 1)
    with django_assert_max_num_queries(12):
        assert len(uses(viewer, template)) == 20


def test_an_unknown_template_has_no_instances(viewer):
    assert viewer.get("/api/v1/templates/none-such/instances").status_code == 404
