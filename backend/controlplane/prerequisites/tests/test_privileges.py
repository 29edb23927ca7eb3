"""The server is asked for an account's privileges: before a change, in the check, and if a report is refused."""

import re
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from controlplane.fleet.models import Instance
from controlplane.gateway.errors import PrivilegeMissing
from controlplane.gateway.local_accounts import NEEDS, Need
from controlplane.gateway.privileges import grant_statements
from controlplane.gateway.product import MARIADB, MYSQL, LocalProduct
from controlplane.prerequisites.check import instance_check
from testing.accounts import ACCOUNT, PASSWORD, limited, owner_of

pytestmark = pytest.mark.django_db


def missing(findings: Any) -> list[Any]:
    return [each for each in findings if each["code"] == "privilege_missing"]


def previewed(operator: Any, instance: Instance, **parameters: str) -> Any:
    return operator.post("/api/v1/changes/preview", {"instance": instance.pk, "parameters": parameters}).json()


def test_a_preview_refuses_what_the_account_may_not_set_and_says_what_to_grant(operator, shared_server, owner):
    instance = limited(shared_server, owner, f"GRANT CONNECTION ADMIN ON *.* TO {ACCOUNT}")
    asked = {"long_query_time": "3.5", "max_connections": "77", "innodb_flush_log_at_trx_commit": "2"}
    before = owner.variables()
    preview = previewed(operator, instance, **asked)
    assert preview["is_blocked"]
    found = missing(preview["findings"])
    assert {each["parameter"] for each in found} == {"long_query_time", "innodb_flush_log_at_trx_commit"}
    assert found[0]["severity"] == "blocking"
    assert found[0]["action"]["statements"] == [f"GRANT SUPER ON *.* TO {ACCOUNT};"]
    refused = operator.post(f"/api/v1/instances/{instance.pk}/changes", {"parameters": asked, "apply": True})
    assert (refused.status_code, refused.json()["code"]) == (422, "privilege_missing")
    assert refused.json()["statements"] == found[0]["action"]["statements"]
    assert owner.variables()["max_connections"] == before["max_connections"]
    for statement in found[0]["action"]["statements"]:
        owner.run(statement)
    assert not missing(previewed(operator, instance, **asked)["findings"])


def test_a_right_of_its_own_is_named_where_a_parameter_takes_one(operator, shared_server, owner):
    instance = limited(shared_server, owner, f"GRANT SUPER ON *.* TO {ACCOUNT}")
    [found] = missing(previewed(operator, instance, read_only="ON")["findings"])
    assert found["action"]["statements"] == [f"GRANT READ_ONLY ADMIN ON *.* TO {ACCOUNT};"]


def test_a_preview_on_mysql_refuses_what_the_account_may_not_set(operator, shared_mysql, mysql_owner):
    instance = limited(shared_mysql, mysql_owner, f"GRANT PROCESS ON *.* TO {ACCOUNT}")
    preview = previewed(operator, instance, long_query_time="3.5")
    [found] = missing(preview["findings"])
    assert preview["is_blocked"]
    for statement in found["action"]["statements"]:
        mysql_owner.run(statement)
    assert not missing(previewed(operator, instance, long_query_time="3.5")["findings"])


def test_the_check_names_what_the_account_lacks_for_each_use_with_statements_that_grant_it(shared_server, owner):
    instance = limited(shared_server, owner)
    found = {each.needed: each for each in instance_check(instance)["findings"] if each.code == "privilege_missing"}
    assert {(each.severity.value, each.needed) for each in found.values()} == {
        ("advice", "PROCESS on *.*, for monitoring"),
        ("blocking", "SUPER on *.*, for changing parameters"),
    }
    for each in found.values():
        for statement in each.action.statements:
            owner.run(statement)
    checked = instance_check(instance)
    assert "privilege_missing" not in {each.code for each in checked["findings"]}
    assert checked["is_ready"]


def test_a_read_only_server_tells_which_privilege_shows_its_replication_lag(own_server):
    server = own_server()
    owner = server.connect()
    instance = limited(server, owner, f"GRANT PROCESS, SUPER ON *.* TO {ACCOUNT}")
    owner.run("SET GLOBAL read_only = ON")
    [found] = [each for each in instance_check(instance)["findings"] if each.needed.endswith("for replication lag")]
    assert found.severity == "advice"
    assert found.action.statements == (f"GRANT SLAVE MONITOR ON *.* TO {ACCOUNT};",)
    owner.close()


def test_a_server_that_has_no_engine_yet_tells_who_may_install_it(own_server):
    server = own_server()
    with_everything = server.connect()
    instance = limited(server, with_everything, *grant_statements(NEEDS[MARIADB.name][Need.CHANGE], ACCOUNT))
    [found] = [each for each in instance_check(instance)["findings"] if each.needed.endswith("for installing")]
    assert found.severity == "advice"
    assert found.action.statements == (f"GRANT INSERT, DELETE ON `mysql`.`plugin` TO {ACCOUNT};",)
    with_everything.close()


@pytest.mark.parametrize("report", ["queries", "tables"])
def test_a_report_that_takes_a_right_says_which_and_not_that_the_engine_is_old(viewer, shared_server, owner, report):
    instance = limited(shared_server, owner)
    answer = viewer.get(f"/api/v1/instances/{instance.pk}/cache/{report}").json()
    assert (answer["is_available"], answer["reason"]) == (False, "privilege_missing")
    assert answer["note"] == f"The account lacks a privilege. Run on the server: GRANT PROCESS ON *.* TO {ACCOUNT};"


def test_what_lists_near_caches_is_told_as_a_missing_right_and_not_as_an_old_engine(viewer, shared_server, owner):
    instance = limited(shared_server, owner)
    path = f"/api/v1/instances/{instance.pk}/near-caches/prerequisites"
    [found] = [each for each in viewer.get(path).json()["ways"][0]["findings"] if each["severity"] == "blocking"]
    assert (found["code"], found["facts"]["rights"]) == ("privilege_missing", "PROCESS on *.*")
    assert found["action"]["statements"] == [f"GRANT PROCESS ON *.* TO {ACCOUNT};"]
    for statement in found["action"]["statements"]:
        owner.run(statement)
    assert "privilege_missing" not in {each["code"] for each in viewer.get(path).json()["ways"][0]["findings"]}


def test_advice_without_a_curve_names_the_missing_right(viewer, shared_server, owner):
    instance = limited(shared_server, owner)
    sizes = viewer.get(f"/api/v1/instances/{instance.pk}/cache/advice").json()["sizes"]
    [curve] = [each for each in sizes if each["rule"] == "curve"]
    assert "GRANT PROCESS" in curve["explanation"]


def test_an_error_of_a_missing_right_is_told_as_one(shared_server, owner):
    from controlplane.fleet.connection import connected

    instance = limited(shared_server, owner)
    with connected(instance) as server:
        for statement in ("SET GLOBAL long_query_time = 3", "SELECT * FROM mysql.global_priv", "INSTALL SONAME 'fqc'"):
            with pytest.raises(PrivilegeMissing, match="lacks a privilege"):
                server.run(statement)


GUIDE = Path(__file__).parents[4] / "docs/guides/grants.md"


def documented(product: LocalProduct) -> list[str]:
    section = GUIDE.read_text().partition(f"## {product.name}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"```sql\n(.*?)```", section, re.DOTALL)
    made = "".join(blocks).replace("'fqc'@'192.0.2.10'", ACCOUNT).replace("<a password>", PASSWORD)
    return made.splitlines()


@pytest.mark.parametrize(("fixture", "product"), [("shared_server", MARIADB), ("shared_mysql", MYSQL)])
def test_the_statements_of_the_guide_make_an_account_that_lacks_nothing(request, operator, fixture, product):
    server = request.getfixturevalue(fixture)
    with contextmanager(owner_of)(server) as owner:
        create, *grants = documented(product)
        instance = limited(server, owner, *grants)
        assert create == f"CREATE USER {ACCOUNT} IDENTIFIED BY '{PASSWORD}';"
        codes = {each.code for each in instance_check(instance)["findings"]}
        assert "privileges" in codes and "privilege_missing" not in codes
        assert not missing(previewed(operator, instance, long_query_time="3.5")["findings"])
        assert {grant for need in Need for grant in grant_statements(NEEDS[product.name][need], ACCOUNT)} <= {*grants}
