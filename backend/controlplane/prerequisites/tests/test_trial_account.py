"""The account that runs a trial on a user's own server, and its privileges."""

import pytest

from controlplane.fleet.models import Instance
from controlplane.prerequisites.trial_account import STATEMENTS
from controlplane.settings.models import Settings
from testing.servers import row_for

pytestmark = pytest.mark.django_db
PASSWORD = "of-the-trial-account"


@pytest.fixture
def table(shared_server):
    server = shared_server.connect()
    server.run("CREATE OR REPLACE DATABASE trial_account")
    server.run("CREATE TABLE trial_account.items (id INT PRIMARY KEY)")
    server.run("INSERT INTO trial_account.items VALUES (1), (2)")
    yield server
    server.run("DROP DATABASE trial_account")
    server.run("DROP USER IF EXISTS outsider, reader")
    server.close()


@pytest.fixture
def external(shared_server, table):
    everything = shared_server.everything
    instance = row_for(shared_server, provider="external", username=everything.username)
    instance.password = everything.password
    instance.save()
    return instance


def patched(client, instance, **body):
    return client.patch(f"/api/v1/instances/{instance.pk}", body, HTTP_IF_MATCH="*")


def try_out(client, instance, statement="SELECT * FROM items WHERE id = 1", repetitions=10):
    body = {"statement": statement, "database": "trial_account", "repetitions": repetitions}
    return client.post(f"/api/v1/instances/{instance.pk}/cache/trial", body)


def test_a_trial_with_a_mighty_account_is_refused_with_the_statements_that_make_another(operator, external):
    answer = try_out(operator, external)
    assert (answer.status_code, answer.json()["code"]) == (409, "trial_account_needed")
    assert "ALL PRIVILEGES" in answer.json()["detail"]
    assert answer.json()["statements"] == STATEMENTS


def test_an_account_that_these_statements_make_runs_trials_and_counts_their_hits(operator, external, shared_server):
    # This server already has an account of that name for its own address. The role exists too, and only its owner may
    # grant it.
    made = "\n".join(STATEMENTS).replace("<a password>", PASSWORD).replace("'fqc_trial'", "'outsider'")
    with shared_server.as_owner() as owner, owner.cursor() as cursor:
        for statement in made.replace("CREATE ROLE", "CREATE ROLE IF NOT EXISTS").splitlines():
            cursor.execute(statement)
    assert patched(operator, external, trial_username="outsider", trial_password=PASSWORD).status_code == 200
    found = try_out(operator, external).json()
    assert found["hits"] > 5 and not found["is_counting_shared"]
    refused = try_out(operator, external, "SELECT * FROM mysql.global_priv")
    assert refused.json()["detail"].endswith("can only SELECT, and not from system schemas.")


@pytest.mark.parametrize(
    ("grant", "told"),
    [
        ("FILE ON *.*", "FILE"),
        ("PROCESS ON *.*", "PROCESS"),
        ("SELECT ON *.*", "SELECT"),
        ("INSERT ON trial_account.*", "INSERT"),
        ("EXECUTE ON trial_account.*", "EXECUTE"),
        ("SELECT, UPDATE (id) ON trial_account.items", "UPDATE"),
        ("SELECT ON mysql.*", "SELECT on mysql.global_priv"),
        ("SELECT ON mysql.global_priv", "SELECT on mysql.global_priv"),
        ("SELECT ON `%`.*", "SELECT on mysql.global_priv"),
    ],
)
def test_an_account_that_may_do_more_than_read_users_schemas_runs_no_trial(operator, external, table, grant, told):
    table.run(f"CREATE OR REPLACE USER reader IDENTIFIED BY '{PASSWORD}'")
    table.run(f"GRANT {grant} TO reader")
    patched(operator, external, trial_username="reader", trial_password=PASSWORD)
    answer = try_out(operator, external)
    assert (answer.status_code, answer.json()["code"]) == (409, "trial_account_needed")
    assert told in answer.json()["detail"]


def test_a_right_that_a_default_role_lends_is_not_used(operator, external, table):
    table.run(f"CREATE OR REPLACE USER reader IDENTIFIED BY '{PASSWORD}'")
    table.run("GRANT SELECT ON trial_account.* TO reader")
    table.run("CREATE OR REPLACE ROLE mighty")
    table.run("GRANT ALL PRIVILEGES ON *.* TO mighty")
    table.run("GRANT mighty TO reader")
    table.run("SET DEFAULT ROLE mighty FOR reader")
    patched(operator, external, trial_username="reader", trial_password=PASSWORD)
    assert try_out(operator, external).status_code == 200
    assert try_out(operator, external, "SELECT * FROM mysql.global_priv").status_code == 422
    table.run("DROP ROLE mighty")


def test_an_account_that_reads_one_schema_runs_trials_without_a_role_to_count_with(operator, external, table):
    table.run(f"CREATE OR REPLACE USER reader IDENTIFIED BY '{PASSWORD}'")
    table.run("GRANT SELECT ON trial_account.* TO reader")
    patched(operator, external, trial_username="reader", trial_password=PASSWORD)
    found = try_out(operator, external)
    assert (found.status_code, found.json()["is_counting_shared"]) == (200, True)


def test_the_trial_accounts_password_is_sealed_kept_from_answers_and_renewed_by_rotation(operator, external, settings):
    from django.core.management import call_command

    answer = patched(operator, external, trial_username="reader", trial_password=PASSWORD)
    assert answer.json()["endpoint"]["trial_username"] == "reader"
    assert PASSWORD not in answer.content.decode()
    row = Instance.objects.get(pk=external.pk)
    assert PASSWORD not in row.trial_password_sealed and row.trial_password == PASSWORD
    settings.SEALING_KEYS = ["the-newest-key", *settings.SEALING_KEYS]
    call_command("rotate_sealing_key")
    settings.SEALING_KEYS = settings.SEALING_KEYS[:1]
    assert Instance.objects.get(pk=external.pk).trial_password == PASSWORD


@pytest.mark.parametrize("moved", [{"host": "127.0.0.2"}, {"port": 1}, {"is_tls_required": True}])
def test_the_trial_account_is_forgotten_when_the_instance_is_another_server(operator, external, moved):
    patched(operator, external, trial_username="reader", trial_password=PASSWORD)
    patched(operator, external, **moved, password="given-anew")
    row = Instance.objects.get(pk=external.pk)
    assert (row.trial_username, row.trial_password) == ("", "")


def test_the_trial_account_stays_with_the_same_server(operator, external):
    patched(operator, external, trial_username="reader", trial_password=PASSWORD)
    patched(operator, external, host=external.host, port=external.port, tags={"a": "b"})
    assert Instance.objects.get(pk=external.pk).trial_password == PASSWORD


def test_another_trial_account_takes_another_password(operator, external):
    patched(operator, external, trial_username="reader", trial_password=PASSWORD)
    refused = patched(operator, external, trial_username="another")
    assert (refused.status_code, refused.json()["code"]) == (400, "password_required")
    assert patched(operator, external, trial_username="").status_code == 200
    assert Instance.objects.get(pk=external.pk).trial_password_sealed == ""


def test_a_local_instance_has_its_own_trial_account(operator, instance):
    answer = patched(operator, instance, trial_username="reader", trial_password=PASSWORD)
    assert (answer.status_code, answer.json()["code"]) == (409, "local_endpoint")
    body = {"name": "new", "provider": "local", "instance_class": "local.small", "trial_username": "reader"}
    assert operator.post("/api/v1/instances", body).json()["errors"][0]["field"] == "trial_username"


def test_trials_may_be_kept_for_admins(operator, admin, instance, table):
    Settings.objects.update_or_create(pk=1, defaults={"trial_role": "admin"})
    refused = try_out(operator, instance, repetitions=2)
    assert (refused.status_code, refused.json()["code"]) == (403, "denied")
    assert "admin" in refused.json()["detail"]
    assert try_out(admin, instance, repetitions=2).status_code == 200


def test_who_may_try_is_a_setting_of_admins(admin, operator):
    path = "/api/v1/settings"
    assert admin.get(path).json()["trial_role"] == "operator"
    assert admin.patch(path, {"trial_role": "admin"}, HTTP_IF_MATCH="*").json()["trial_role"] == "admin"
    assert admin.patch(path, {"trial_role": "viewer"}, HTTP_IF_MATCH="*").status_code == 400
    assert operator.patch(path, {"trial_role": "operator"}, HTTP_IF_MATCH="*").status_code == 403
