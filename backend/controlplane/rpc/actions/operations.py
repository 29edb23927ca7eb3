"""Operations on a whole instance: restart, minor version, class, dedicated proxy."""

from __future__ import annotations

import re

from controlplane.changes import services
from controlplane.changes.serializers import ProxySerializer, ResizeSerializer, RestartSerializer, UpgradeSerializer
from controlplane.core.errors import NotFound, Refused
from controlplane.rpc.actions.action import Action, Answer, Given, checked, reads, writes
from controlplane.rpc.actions.target import idle_instance, instance_of
from controlplane.rpc.actions.timing import started, task_number, timing, timing_arguments
from controlplane.rpc.arguments import client_token, one_of, optional, required, unused
from controlplane.rpc.errors import RpcError
from controlplane.rpc.kernel import kernel_name, kernel_number, offered

STARTUP, SHUTDOWN, MODIFY = "Startup", "Shutdown", "Modify"
NETWORK = ("InstanceNetworkType", "VPCId", "VSwitchId", "DBProxyInstanceNum", "DBProxyEngineType")
DEDICATED = ("exclusive", "2")


def restart(given: Given) -> Answer:
    instance = idle_instance(given["DBInstanceId"])
    when = timing(given["EffectiveTime"], given["SwitchTime"])
    started(services.change_restart(instance, **checked(RestartSerializer, note="RestartDBInstance", **when)))
    return {}


def upgrade(given: Given) -> Answer:
    """Upgrades the engine to the version that this control plane offers, if that is at least the requested one; raises
    RpcError otherwise.
    """
    instance, newest = idle_instance(given["DBInstanceId"]), offered()
    if given["TargetMinorVersion"] and kernel_number(given["TargetMinorVersion"]) > newest:
        message = f"The newest minor version here is {kernel_name(newest) or 'none'}."
        raise RpcError("InvalidTargetMinorVersion.NotFound", message, 404)
    when = timing(given["UpgradeTime"], given["SwitchTime"])
    wanted = checked(UpgradeSerializer, note="UpgradeDBInstanceKernelVersion", **when)
    change = started(services.change_upgrade(instance, **wanted))
    return {
        "DBInstanceName": instance.pk,
        "TargetMinorVersion": kernel_name(newest),
        "TaskId": str(task_number(change)),
    }


def modify_spec(given: Given) -> Answer:
    instance = idle_instance(given["DBInstanceId"])
    when = timing(given["EffectiveTime"], given["SwitchTime"])
    wanted = checked(ResizeSerializer, instance_class=given["DBInstanceClass"], note="ModifyDBInstanceSpec", **when)
    try:
        change = services.change_resize(instance, **wanted)
    except NotFound as error:
        raise RpcError("InvalidDBInstanceClass.NotFound", error.detail, 404) from error
    except Refused as error:
        raise _undecided(error) from error
    return {"DBInstanceId": instance.pk, "OrderId": task_number(started(change))}


def _undecided(refusal: Refused) -> Exception:
    """Returns the error to raise for a refused resize. A refusal because the request must decide about the cache's size
    becomes an RpcError that says what to do first, since this dialect has no argument for that decision. Any other
    refusal is returned as it is.
    """
    if refusal.code != "cache_size_undecided":
        return refusal
    remedy = "Set it to an expression, or to 0, with ModifyParameter first."
    seen = refusal.detail.partition(";")[0]
    return RpcError("OperationDenied.CacheSizeUndecided", f"{seen}. {remedy}", 403)


def describe_proxy(given: Given) -> Answer:
    instance = instance_of(given["DBInstanceId"])
    is_on = instance.proxy_enabled
    return {
        "DBProxyServiceStatus": STARTUP if is_on else SHUTDOWN,
        "DBProxyInstanceStatus": "Running" if is_on else "",
        "DBProxyInstanceType": "2" if is_on else "",
        "DBProxyInstanceNum": int(is_on),
        "DBProxyInstanceName": instance.pk if is_on else "",
        "DBProxyPersistentConnectionStatus": "Unsupported",
        "DBProxyConnectStringItems": {"DBProxyConnectStringItems": []},
        "DbProxyEndpointItems": {"DbProxyEndpointItems": []},
    }


def modify_proxy(given: Given) -> Answer:
    if given["ConfigDBProxyService"] == MODIFY:
        message = "A dedicated proxy is on or off here: there is nothing else of it to modify."
        raise RpcError("InvalidConfigDBProxyService.NotSupported", message)
    instance = idle_instance(given["DBInstanceId"])
    is_on = given["ConfigDBProxyService"] == STARTUP
    started(services.change_proxy(instance, **checked(ProxySerializer, enabled=is_on, note="ModifyDBProxy")))
    return {}


def dedicated(raw: str) -> str:
    if raw.lower() not in DEDICATED:
        raise ValueError("only exclusive, the dedicated proxy, is here")
    return raw


def kernel(raw: str) -> str:
    if not re.fullmatch(r"rds_[0-9]{8}", raw):
        raise ValueError("write rds_ and eight digits, such as rds_20200331")
    return raw


INSTANCE = required("DBInstanceId")
CLIENT_TOKEN = optional("ClientToken", client_token)
OPERATIONS: dict[str, Action] = {
    "RestartDBInstance": writes(restart, INSTANCE, *timing_arguments("EffectiveTime"), CLIENT_TOKEN),
    "UpgradeDBInstanceKernelVersion": writes(
        upgrade, INSTANCE, optional("TargetMinorVersion", kernel), *timing_arguments("UpgradeTime", "SpecifyTime")
    ),
    "ModifyDBInstanceSpec": writes(
        modify_spec,
        INSTANCE,
        required("DBInstanceClass"),
        *timing_arguments("EffectiveTime"),
        CLIENT_TOKEN,
        *unused("PayType", "Direction", "AutoUseCoupon", "SourceBiz"),
    ),
    "DescribeDBProxy": reads(describe_proxy, INSTANCE, *unused("DBProxyEngineType")),
    "ModifyDBProxy": writes(
        modify_proxy,
        INSTANCE,
        required("ConfigDBProxyService", one_of(STARTUP, SHUTDOWN, MODIFY)),
        optional("DBProxyInstanceType", dedicated),
        *unused(*NETWORK),
    ),
}
