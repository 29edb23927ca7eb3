"""The list of instances, and one instance in full."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime, timedelta

from django.db.models import Q, QuerySet

from controlplane.fleet.definitions import instance_line, instance_lines
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import instance_tagged
from controlplane.rpc.actions.action import Action, Answer, Given, reads, utc
from controlplane.rpc.actions.target import SETTLED, instance_of, statuses
from controlplane.rpc.arguments import optional, required, text_map, unused, whole
from controlplane.rpc.kernel import kernel_name, offered

MEBIBYTE, GIBIBYTE = 1024**2, 1024**3
REGION = "local"
FILTERS = {
    "DBInstanceId": "pk",
    "EngineVersion": "engine_line",
    "DBInstanceClass": "instance_class__name",
    "ConnectionString": "host",
}
STATES = {name.lower(): state for state, name in SETTLED.items()}


def describe_all(given: Given) -> Answer:
    found = _filtered(given)
    total = found.count()
    if given["MaxResults"] or given["NextToken"]:
        return _by_token(found, given, total)
    size, number = given["PageSize"], given["PageNumber"]
    page = list(found[(number - 1) * size : number * size])
    return _list(page) | {"PageNumber": number, "PageRecordCount": len(page), "TotalRecordCount": total}


def _by_token(found: QuerySet[Instance], given: Given, total: int) -> Answer:
    """Returns the page of instances after the one that NextToken names.

    Instances are ordered by their unique names, so a page continues after the last name of the previous one.
    """
    size = given["MaxResults"] or given["PageSize"]
    after = found.filter(name__gt=given["NextToken"]) if given["NextToken"] else found
    page = list(after[: size + 1])
    more = {"NextToken": _token(page[size - 1].name)} if len(page) > size else {}
    return _list(page[:size]) | {"PageRecordCount": len(page[:size]), "TotalRecordCount": total} | more


def _token(name: str) -> str:
    return base64.urlsafe_b64encode(name.encode()).decode()


def next_token(raw: str) -> str:
    try:
        name = base64.b64decode(raw.encode(), altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError):
        name = ""
    if not name.isprintable() or not name:
        raise ValueError("send back what an answer gave as NextToken")
    return name


def state(raw: str) -> str:
    if raw.lower() not in STATES:
        raise ValueError(f"write {', '.join(SETTLED.values())}")
    return STATES[raw.lower()]


def _filtered(given: Given) -> QuerySet[Instance]:
    found = instance_tagged(given["Tags"] or {})
    found = found.filter(**{column: given[name] for name, column in FILTERS.items() if given[name]})
    if given["DBInstanceStatus"]:
        found = found.filter(state=given["DBInstanceStatus"])
    if given["SearchKey"]:
        found = found.filter(Q(name__icontains=given["SearchKey"]) | Q(pk__icontains=given["SearchKey"]))
    if given["Engine"] and given["Engine"].lower() != "mysql":
        found = found.none()
    return found.order_by("name")


def _list(page: list[Instance]) -> Answer:
    status, lines = statuses(page), instance_lines(page)
    items = [_summary(each, status[each.pk], lines[each.pk].product) for each in page]
    return {"Items": {"DBInstance": items}}


def _summary(instance: Instance, status: str, engine: str) -> Answer:
    size = instance.instance_class
    return {
        "DBInstanceId": instance.pk,
        "DBInstanceDescription": instance.name,
        "DBInstanceStatus": status,
        "DBInstanceType": "Primary",
        "DBInstanceClass": size.name,
        "DBInstanceCPU": str(size.cpu_count),
        "DBInstanceMemory": size.memory_bytes // MEBIBYTE,
        "Engine": engine,
        "EngineVersion": instance.engine_line,
        "RegionId": REGION,
        "LockMode": "Unlock",
        "PayType": "Postpaid",
        "CreateTime": utc(instance.created_at),
        "ConnectionString": instance.host,
    }


def describe_one(given: Given) -> Answer:
    instance = instance_of(given["DBInstanceId"])
    summary = _summary(instance, statuses([instance])[instance.pk], instance_line(instance).product)
    created = summary.pop("CreateTime")
    own = {
        "CreationTime": created,
        "Port": str(instance.port),
        **_storage(instance.instance_class.storage_bytes),
        "MaxConnections": instance.instance_class.max_connections,
        "CurrentKernelVersion": kernel_name(instance.minor_version),
        "LatestKernelVersion": kernel_name(offered()),
        "MaintainTime": _window(instance),
        "ProxyType": 2 if instance.proxy_enabled else 0,
    }
    return {"Items": {"DBInstanceAttribute": [summary | own]}}


def _storage(storage_bytes: int | None) -> Answer:
    """Returns the storage attribute in GiB, or nothing if it is unknown: the dialect has no value for that."""
    return {} if storage_bytes is None else {"DBInstanceStorage": storage_bytes // GIBIBYTE}


def _window(instance: Instance) -> str:
    """Returns the hours of the maintenance window, such as 02:00Z-03:00Z. The dialect has no weekdays."""
    opens = datetime.combine(datetime.min, instance.window_start)
    closes = opens + timedelta(minutes=instance.window_minutes)
    return f"{opens:%H:%M}Z-{closes:%H:%M}Z"


INSTANCES: dict[str, Action] = {
    "DescribeDBInstances": reads(
        describe_all,
        *(optional(name) for name in ("SearchKey", "Engine", *FILTERS)),
        optional("DBInstanceStatus", state),
        optional("Tags", text_map),
        optional("PageSize", whole(1, 100), 30),
        optional("PageNumber", whole(1, 10**6), 1),
        optional("MaxResults", whole(1, 100)),
        optional("NextToken", next_token),
        *unused("ClientToken"),
    ),
    "DescribeDBInstanceAttribute": reads(describe_one, required("DBInstanceId"), *unused("Expired")),
}
