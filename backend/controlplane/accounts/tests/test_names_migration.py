"""Names that differ by case alone stop the migration with a word about whom it is, and nothing is half done."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

BEFORE, AFTER = [("accounts", "0002_access_keys")], [("accounts", "0003_sessions_and_names")]


def migrate(to):
    executor = MigrationExecutor(connection)
    executor.migrate(to)
    return MigrationExecutor(connection).loader.project_state(to).apps


@pytest.mark.django_db(transaction=True)
def test_names_that_differ_by_case_alone_are_named_and_left_for_an_admin_to_decide():
    users = migrate(BEFORE).get_model("accounts", "User").objects
    try:
        for number, name in enumerate(("Alice", "alice", "bob")):
            users.create(pk=f"usr-{number}", username=name, password="x", role="viewer")
        with pytest.raises(ValueError, match=r"delete all but one of each .*: Alice and alice$"):
            migrate(AFTER)
        assert users.count() == 3
        users.filter(username="Alice").delete()
    finally:
        users.filter(username="Alice").delete()
        latest = MigrationExecutor(connection)
        latest.migrate(latest.loader.graph.leaf_nodes())
    assert set(users.values_list("username", flat=True)) == {"alice", "bob"}
    users.all().delete()
