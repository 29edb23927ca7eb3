"""An operator cannot make a local server write a file of his choice through its option file.

An operator may register a program that speaks the protocol and describes made-up variables, or there may be a poisoned
catalogue from an older version. Every operation that leads to a change is tried with such names.
"""

import os
import signal

import pytest

from controlplane.changes.models import ChangeSet
from controlplane.fleet.local import configure, configure_anew, local_server
from controlplane.fleet.models import Instance, InstanceParameter
from controlplane.fleet.selectors import server_line_id
from controlplane.gateway.local import LocalServerError
from controlplane.parameters.models import Template, TemplateVersion
from controlplane.rollouts import execution as rollouts
from controlplane.rollouts.models import FleetApplyItem
from testing.catalogue import ABBREVIATED, INVENTED, PATH
from testing.changes import asked, changed, run
from testing.ports import free_port
from testing.servers import row_for

pytestmark = pytest.mark.django_db


# a name that is written as another one, which a server without the engine does not have
OF_THE_ENGINE = {"query_cache_size": "1048576"}


def file_of(instance) -> str:
    return (local_server(instance).folder / "configured.cnf").read_text()


def silent(instance) -> None:
    """Moves the instance to a port where no server answers, while the process of its local server still runs."""
    Instance.objects.filter(pk=instance.pk).update(port=free_port())
    instance.refresh_from_db()


def template_of(name: str, values: dict[str, str]) -> Template:
    """Stores a template without any checks, as an older version did, and returns it."""
    template = Template.objects.create(name=name, engine_line="5.7")
    TemplateVersion.objects.create(template=template, number=1, values=values, actor="somebody")
    return template


def codes(answer) -> set[str]:
    return {each["code"] for each in answer.json()["findings"] if each["severity"] == "blocking"}


@pytest.mark.parametrize("is_silent", [False, True])
@pytest.mark.parametrize("name", ABBREVIATED)
def test_an_abbreviated_option_is_refused_to_everybody_whatever_the_server_says(
    operator, admin, odd_instance, name, is_silent
):
    if is_silent:
        silent(odd_instance)
    for client in (operator, admin):
        body = {"parameters": {name: PATH}, "apply": True, "allow_restart": True}
        answer = client.post(f"/api/v1/instances/{odd_instance.pk}/changes", body, format="json")
        assert (answer.status_code, answer.json()["code"]) == (422, "not_modifiable")
    assert not ChangeSet.objects.exists()


@pytest.mark.parametrize("name", ABBREVIATED)
def test_a_template_takes_no_abbreviated_option_neither_made_nor_imported(operator, admin, odd_instance, name):
    body = {"name": "mine", "engine_line": server_line_id(odd_instance.engine_version), "values": {name: PATH}}
    for client in (operator, admin):
        for route, more in (("templates", {}), ("templates/import", {"format": "fqc-template-1"})):
            answer = client.post(f"/api/v1/{route}", body | more, format="json")
            assert answer.status_code == 400, route
            assert [each["code"] for each in answer.json()["errors"]] == ["not_modifiable"], route


@pytest.mark.parametrize(("is_silent", "code"), [(False, "not_on_server"), (True, "not_confirmed")])
def test_a_name_that_the_server_does_not_confirm_is_refused_at_each_door(operator, odd_instance, is_silent, code):
    if is_silent:
        silent(odd_instance)
    wanted, path = {INVENTED: "7"}, f"/api/v1/instances/{odd_instance.pk}"
    template_of("from-before", wanted)
    doors = {
        "change": (f"{path}/changes", {"parameters": wanted, "apply": True, "allow_restart": True}),
        "template": (f"{path}/changes", {"template": "from-before", "apply": True, "allow_restart": True}),
        "resize": (f"{path}/resize", {"instance_class": "local.small", "parameters": wanted}),
    }
    for door, (route, body) in doors.items():
        answer = operator.post(route, body, format="json")
        assert (answer.status_code, answer.json()["code"]) == (422, code), door
    shown = operator.post("/api/v1/changes/preview", {"instance": odd_instance.pk, "parameters": wanted}, format="json")
    assert codes(shown) == {code}
    assert not ChangeSet.objects.exists()


def test_a_silent_server_still_takes_what_the_product_ships_and_gives_up_what_it_was_set_to(operator, odd_instance):
    InstanceParameter.objects.create(instance=odd_instance, name=INVENTED, submitted="7", resolved="7", running="7")
    silent(odd_instance)
    for wanted in ({"long_query_time": "3"}, {INVENTED: None}):
        shown = operator.post(
            "/api/v1/changes/preview", {"instance": odd_instance.pk, "parameters": wanted}, format="json"
        )
        assert codes(shown) == set(), wanted


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"name": INVENTED, "new_value": "7"}, "has no variable new_page_count"),
        ({"name": "general_log_fi", "new_value": PATH}, "not set through this product"),
        ({"name": "general_log_file", "new_value": PATH}, "not set through this product"),
        ({"name": "unheard_of", "new_value": "1"}, "is not in the catalogue"),
        ({"name": "general_log", "new_value": "ON"}, "for administrators"),
        ({"new_value": "70\ngeneral_log_file=/tmp/x"}, "control character"),
        ({"new_value": "7" * 4000}, "too long"),
        ({"new_value": "many"}, "is not a whole number"),
        ({"new_value": "70000000"}, "above the maximum"),
    ],
)
def test_what_was_planned_by_other_rules_is_checked_again_before_anything_is_written(odd_instance, facts, why):
    """A waiting change whose lines today's rules forbid is undone and nothing is written: an older version may have
    planned it, or the definitions were replaced after its preview.
    """
    made = asked(odd_instance, {"back_log": "70"})
    assert [step.kind for step in made.steps.all()] == ["write_configuration"]
    made.lines.update(**facts)
    ended = run(made)
    assert ended.state == "rolled_back" and why in ended.outcome_detail
    assert not any(word in file_of(odd_instance) for word in ("back_log", "general_log", INVENTED, "unheard_of"))


def test_what_was_configured_and_the_server_has_not_is_left_out_of_its_file(odd_instance):
    for name, value in {INVENTED: "7", "general_log_fi": PATH, "slow_query_log_f": PATH, "unheard_of": "1"}.items():
        InstanceParameter.objects.create(
            instance=odd_instance, name=name, submitted=value, resolved=value, running=value
        )
    changed(odd_instance, {"long_query_time": "3"})
    assert file_of(odd_instance).split() == ["[mariadbd]", "loose-long_query_time=3"]
    configure_anew(odd_instance)
    assert file_of(odd_instance).split() == ["[mariadbd]", "loose-long_query_time=3"]


def test_a_rollback_brings_back_no_name_that_the_server_has_not(operator, odd_instance):
    InstanceParameter.objects.create(instance=odd_instance, name=INVENTED, submitted="7", resolved="7", running="7")
    taken_off = changed(odd_instance, {INVENTED: None})
    assert INVENTED not in odd_instance.parameters.values_list("name", flat=True)
    answer = operator.post(f"/api/v1/changes/{taken_off.pk}/rollback")
    assert (answer.status_code, answer.json()["code"]) == (422, "not_on_server")


def test_a_rollout_writes_no_name_that_the_server_has_not(operator, odd_instance):
    template_of("from-before", {INVENTED: "7"})
    body = {"template": "from-before", "instances": [odd_instance.pk], "allow_restart": True, "start": True}
    before = file_of(odd_instance)
    made = operator.post("/api/v1/fleet-applies", body, format="json").json()
    rollouts.advance(made["id"])
    for item in FleetApplyItem.objects.all():
        rollouts.run_items(item.pk)
    [item] = operator.get(f"/api/v1/fleet-applies/{made['id']}/items").json()["items"]
    assert (item["state"], file_of(odd_instance)) == ("failed", before)
    assert f"the server has no variable {INVENTED}" in item["detail"]


def test_a_stopped_server_is_given_what_it_said_of_itself_when_it_ran(own_server):
    server = own_server()
    instance = row_for(server)
    server.stop()
    configure(instance, {"aria_pagecache_age_threshold": "400", **OF_THE_ENGINE})
    assert file_of(instance).split() == ["[mariadbd]", "loose-aria_pagecache_age_threshold=400"]
    server.start()
    connection = server.connect()
    assert connection.variable("aria_pagecache_age_threshold") == "400"
    connection.close()


def test_a_server_that_never_answered_is_given_names_that_ship_alone(own_server):
    server = own_server()
    instance = row_for(server)
    server.stop()
    (server.folder / "variables").unlink()
    configure(instance, {"aria_pagecache_age_threshold": "400", "long_query_time": "3"})
    assert file_of(instance).split() == ["[mariadbd]", "loose-long_query_time=3"]


def test_a_hung_server_is_believed_what_it_said_since_its_start_and_nothing_older(own_server, monkeypatch):
    monkeypatch.setattr("controlplane.gateway.local.ANSWER_SECONDS", 1)
    server = own_server()
    instance = row_for(server)
    record = server.folder / "variables"
    os.kill(server.pid, signal.SIGSTOP)
    try:
        configure(instance, {"aria_pagecache_age_threshold": "400", **OF_THE_ENGINE})
        assert file_of(instance).split() == ["[mariadbd]", "loose-aria_pagecache_age_threshold=400"]
        record.write_text(record.read_text().replace(str(server.pid), "1", 1))
        with pytest.raises(LocalServerError, match="does not say which variables it has"):
            configure(instance, {"aria_pagecache_age_threshold": "500"})
    finally:
        os.kill(server.pid, signal.SIGCONT)


def test_a_server_takes_no_abbreviation_whoever_wrote_it(own_server):
    """A server ignores an abbreviated name in its option file.

    This is the last safeguard, in case a name gets into the file in an unknown way.
    """
    server = own_server()
    before = server.folder / "general.log"
    server.configure({"general_log_fi": str(before), "general_log": "ON"})
    server.restart()
    connection = server.connect()
    assert connection.variable("general_log") == "1"
    assert connection.variable("general_log_file") != str(before)
    connection.close()
    assert not before.exists()


@pytest.mark.parametrize("name", ["a=1\ngeneral_log_file", "[mysqld]", "a b", "!include", "", "a-b"])
def test_a_name_that_is_no_plain_one_is_never_written(shared_server, name):
    before = (shared_server.folder / "configured.cnf").read_text()
    with pytest.raises(LocalServerError, match="one line"):
        shared_server.configure({name: "1"})
    assert (shared_server.folder / "configured.cnf").read_text() == before
