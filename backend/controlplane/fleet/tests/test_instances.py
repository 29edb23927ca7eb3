import pytest
from django.core.management import call_command

from controlplane.audit.models import AuditEvent
from controlplane.fleet.models import Instance, InstanceParameter
from controlplane.fleet.sealed import columns
from controlplane.fleet.selectors import class_get
from controlplane.gateway.product import PRODUCTS
from controlplane.gateway.tests.test_tls import certified

pytestmark = pytest.mark.django_db


def row(number, *, is_local=False, **facts):
    endpoint = {"provider": "local" if is_local else "external", "host": "127.0.0.1", "port": 3306, "username": "u"}
    instance = Instance(name=f"i-{number:03}", **endpoint, **facts)
    instance.instance_class = class_get("local.small")
    instance.password = f"secret-{number}"
    instance.save()
    return instance


def test_a_password_is_sealed_and_never_shown(operator):
    instance = row(1)
    assert "secret-1" not in instance.password_sealed
    assert Instance.objects.get().password == "secret-1"
    for path in (f"/api/v1/instances/{instance.pk}", "/api/v1/instances"):
        text = operator.get(path).content.decode()
        assert "secret-1" not in text and "sealed" not in text


def test_without_the_sealing_key_pages_say_what_is_missing(operator, instance, settings):
    settings.SEALING_KEYS = ["another-key"]
    path = f"/api/v1/instances/{instance.pk}"
    answer = operator.get(f"{path}/cache/status")
    assert (answer.status_code, answer.json()["code"]) == (500, "secret_not_opened")
    assert instance.pk in answer.json()["detail"] and "FQC_SEALING_KEYS" in answer.json()["detail"]
    assert operator.get(f"{path}/parameters").status_code == 200
    findings = operator.get(f"{path}/prerequisites").json()["findings"]
    assert any("FQC_SEALING_KEYS" in str(finding) for finding in findings)


def test_rotation_moves_every_password_to_the_newest_key(settings, capsys):
    row(1), row(2)
    settings.SEALING_KEYS = ["the-newest-key", *settings.SEALING_KEYS]
    call_command("rotate_sealing_key")
    settings.SEALING_KEYS = settings.SEALING_KEYS[:1]
    assert [each.password for each in Instance.objects.order_by("name")] == ["secret-1", "secret-2"]
    assert AuditEvent.objects.filter(action="sealing_key.rotated").count() == 1


def sealed_columns():
    from django.apps import apps

    fields = [field for model in apps.get_models() for field in model._meta.fields]
    return {f"{field.model.__name__}.{field.name}" for field in fields if field.name.endswith("_sealed")}


def test_every_sealed_column_is_known_to_rotation():
    assert sealed_columns() == {f"{model.__name__}.{column}" for model, column, _ in columns()}


def test_an_answer_that_was_kept_is_given_again_after_a_rotation(operator, settings):
    key = {"HTTP_IDEMPOTENCY_KEY": "key-1"}
    first = operator.post("/api/v1/templates", {"name": "ci", "values": {}}, **key).json()
    settings.SEALING_KEYS = ["the-newest-key", *settings.SEALING_KEYS]
    call_command("rotate_sealing_key")
    settings.SEALING_KEYS = settings.SEALING_KEYS[:1]
    assert operator.post("/api/v1/templates", {"name": "ci", "values": {}}, **key).json() == first


def test_a_list_costs_the_same_however_long_it_is(viewer, django_assert_num_queries):
    for number in range(60):
        instance = row(number, tags={"n": str(number)})
        InstanceParameter.objects.create(instance=instance, name="a", submitted="1", resolved="1", is_drifted=True)
    viewer.get("/api/v1/fleet/summary")  # stores the token's first use
    with django_assert_num_queries(3):  # token, page, faults
        page = viewer.get("/api/v1/instances?limit=50").json()
    assert len(page["items"]) == 50 and page["items"][0]["drifted_count"] == 1
    rest = viewer.get(f"/api/v1/instances?limit=50&cursor={page['next']}").json()
    assert len(rest["items"]) == 10 and rest["next"] is None


@pytest.mark.parametrize("name", ["contains", "isnull", "my-team", "a__b"])
def test_a_tag_is_a_name_and_nothing_else(viewer, name):
    row(0), row(1, tags={name: "x", "tier": "web"})
    page = viewer.get(f"/api/v1/instances?tag={name}:x&tag=tier:web").json()
    assert [each["name"] for each in page["items"]] == ["i-001"]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("search=i-00", ["i-000", "i-001"]),
        ("tag=tier:web", ["i-001"]),
        ("state=stopped", ["i-001"]),
        ("has_engine=true", ["i-001"]),
        ("is_drifted=true", ["i-000"]),
        ("is_drifted=false", ["i-001"]),
        ("instance_class=local.small", ["i-000", "i-001"]),
    ],
)
def test_lists_are_narrowed_by(viewer, query, names):
    drifted = row(0)
    InstanceParameter.objects.create(instance=drifted, name="a", submitted="1", resolved="1", is_drifted=True)
    row(1, tags={"tier": "web"}, state="stopped", minor_version=20261120)
    assert [item["name"] for item in viewer.get(f"/api/v1/instances?{query}").json()["items"]] == names


def test_the_plugin_is_missing_only_where_it_could_be_loaded(viewer, settings, tmp_path):
    settings.ENGINE_LIBRARY = tmp_path / "fqc.so"
    settings.ENGINE_LIBRARY.write_bytes(b"".join(each.engine_symbol for each in PRODUCTS))
    lacking = [("MySQL", "5.7.44"), ("MySQL", "8.0.15"), ("MySQL", "9.7.0"), ("MariaDB", "10.11.14-MariaDB")]
    for number, (product, version) in enumerate(lacking):
        row(number, product=product, engine_version=version)
    row(4, product="MariaDB", engine_version="10.11.14-MariaDB", minor_version=20261120)
    row(5, product="MariaDB", engine_version="10.11.14-MariaDB", edition="Amazon RDS")
    assert viewer.get("/api/v1/fleet/summary").json()["without_engine_count"] == 2
    page = viewer.get("/api/v1/instances?is_engine_missing=true").json()
    assert [each["name"] for each in page["items"]] == ["i-002", "i-003"]
    others = viewer.get("/api/v1/instances?is_engine_missing=false").json()
    assert [each["name"] for each in others["items"]] == ["i-000", "i-001", "i-004", "i-005"]


@pytest.mark.parametrize("query", ["limit=0", "limit=201", "limit=x", "cursor=nonsense", "tag=broken", "state=nowhere"])
def test_what_cannot_be_a_query_is_refused_by_name(viewer, query):
    answer = viewer.get(f"/api/v1/instances?{query}")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == query.split("=")[0]


def test_what_is_recorded_is_changed_with_its_etag_and_on_record(operator):
    instance = row(1)
    path = f"/api/v1/instances/{instance.pk}"
    assert operator.patch(path, {"tags": {"a": "b"}}).status_code == 428
    stale = operator.patch(path, {"tags": {"a": "b"}}, HTTP_IF_MATCH='"7"')
    assert (stale.status_code, stale.json()["code"]) == (412, "changed_meanwhile")
    window = {"weekday": 6, "start": "03:30", "minutes": 90}
    body = {"tags": {"a": "b"}, "maintenance_window": window, "password": "another-secret"}
    done = operator.patch(path, body, HTTP_IF_MATCH='"1"')
    assert done.headers["ETag"] == '"2"' and done.json()["maintenance_window"] == window
    event = AuditEvent.objects.get(action="instance.updated")
    assert event.before["tags"] == {} and event.after["tags"] == {"a": "b"}
    assert "another-secret" not in str(vars(event))
    assert Instance.objects.get().password == "another-secret"


MOVES = [
    pytest.param("host", "127.0.0.2", id="another host"),
    pytest.param("port", 3307, id="another port"),
    pytest.param("username", "root", id="another account"),
    pytest.param("is_tls_required", False, id="without TLS"),
    pytest.param("tls_ca", "", id="other authorities"),
    pytest.param("public_key", "", id="another key"),
]


def verified(authority):
    return row(1, is_tls_required=True, tls_ca=authority, public_key="a key")


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    folder = tmp_path_factory.mktemp("authority")
    certified(folder)
    return (folder / "certificate").read_text().strip()


@pytest.mark.parametrize(("field", "value"), MOVES)
def test_the_stored_password_goes_nowhere_else_unless_it_is_given_again(operator, authority, field, value):
    instance = verified(authority)
    path = f"/api/v1/instances/{instance.pk}"
    refused = operator.patch(path, {field: value, "name": "moved"}, HTTP_IF_MATCH="*")
    assert (refused.status_code, refused.json()["code"]) == (400, "password_required")
    [error] = refused.json()["errors"]
    assert (error["field"], error["code"]) == ("password", "password_required")
    assert field in error["detail"]
    kept = Instance.objects.get()
    assert (kept.name, kept.version, getattr(kept, field)) == ("i-001", 1, getattr(instance, field))
    assert operator.patch(path, {field: value, "password": "again"}, HTTP_IF_MATCH="*").status_code == 200
    moved = Instance.objects.get()
    assert (getattr(moved, field), moved.password) == (value, "again")


def test_what_moves_nothing_needs_no_password(operator, authority):
    instance = verified(authority)
    body = {
        "name": "renamed", "tags": {"a": "b"}, "host": "127.0.0.1", "port": 3306, "username": "u",
        "is_tls_required": True, "tls_ca": authority,
    }  # fmt: skip
    done = operator.patch(f"/api/v1/instances/{instance.pk}", body, HTTP_IF_MATCH="*")
    assert (done.status_code, done.json()["name"]) == (200, "renamed")
    assert Instance.objects.get().password == "secret-1"


def test_the_endpoint_of_a_local_instance_is_its_own(operator, authority):
    path = f"/api/v1/instances/{row(1, is_local=True).pk}"
    for body in ({"port": 3307}, {"password": "x"}, {"is_tls_required": True}, {"tls_ca": authority}):
        answer = operator.patch(path, body, HTTP_IF_MATCH="*")
        assert (answer.status_code, answer.json()["code"]) == (409, "local_endpoint")
    unchanged = {"name": "renamed", "is_tls_required": False}  # Terraform sends it with everything
    assert operator.patch(path, unchanged, HTTP_IF_MATCH="*").status_code == 200


@pytest.mark.parametrize("text", ["x", "²", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"])
def test_what_are_no_certificates_is_refused_by_name(operator, text):
    instance = row(1)
    answer = operator.patch(f"/api/v1/instances/{instance.pk}", {"tls_ca": text}, HTTP_IF_MATCH="*")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "tls_ca")
    body = {"name": "new", "provider": "external", "instance_class": "local.small", "host": "127.0.0.1", "port": 1}
    answer = operator.post("/api/v1/instances", {**body, "username": "x", "password": "x", "tls_ca": text})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "tls_ca")


def test_what_is_no_public_key_is_refused_by_name(operator):
    body = {"name": "new", "provider": "external", "instance_class": "local.small", "host": "127.0.0.1", "port": 1}
    answer = operator.post("/api/v1/instances", {**body, "username": "x", "password": "x", "public_key": "x"})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "public_key")


def test_the_product_of_an_external_instance_is_not_given(operator):
    body = {"name": "new", "provider": "external", "instance_class": "local.small", "host": "127.0.0.1", "port": 1}
    answer = operator.post("/api/v1/instances", {**body, "username": "x", "password": "x", "product": "MySQL"})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "product")


def test_a_class_in_use_stays(admin):
    row(1)
    answer = admin.delete("/api/v1/instance-classes/local.small")
    assert (answer.status_code, answer.json()["code"]) == (409, "class_in_use")


def test_a_class_states_its_reserve_and_the_memory_that_is_left(admin):
    gib = 1024**3
    body = {
        "name": "big", "cpu_count": 4, "memory_bytes": 16 * gib, "memory_reserve_bytes": 4 * gib,
        "max_connections": 4000, "storage_bytes": 100 * gib,
    }  # fmt: skip
    made = admin.post("/api/v1/instance-classes", body).json()
    assert made["variables"]["DBInstanceClassMemory"] == 12 * gib
    refused = admin.post("/api/v1/instance-classes", {**body, "name": "bad", "memory_reserve_bytes": 16 * gib})
    assert refused.json()["errors"][0]["field"] == "memory_reserve_bytes"


def test_every_parameter_of_the_server_is_listed_with_what_runs(viewer, instance):
    answer = viewer.get(f"/api/v1/instances/{instance.pk}/parameters").json()
    rows = {item["name"]: item for item in answer["items"]}
    assert answer["is_live"] and len(rows) > 500
    assert rows["innodb_buffer_pool_size"]["running"] == "268435456"
    assert rows["query_cache_type"]["needs_restart"] is False
    assert rows["innodb_buffer_pool_size"]["allowed"].startswith("[134217728-")
