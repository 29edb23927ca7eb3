"""Reading an instance's parameters, and changing them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from controlplane.accounts.roles import is_by_admin
from controlplane.catalogue.definition import Definition
from controlplane.catalogue.line import Line
from controlplane.catalogue.sameness import is_same
from controlplane.changes import planning, services
from controlplane.changes.serializers import ChangeRequestSerializer
from controlplane.fleet.definitions import instance_line
from controlplane.fleet.models import Instance
from controlplane.fleet.showing import parameter_rows
from controlplane.parameters.selectors import template_get, template_version_get
from controlplane.rpc.actions.action import Action, Answer, Given, checked, reads, writes
from controlplane.rpc.actions.lines import line_of
from controlplane.rpc.actions.target import idle_instance, instance_of
from controlplane.rpc.actions.timing import started, timing, timing_arguments
from controlplane.rpc.arguments import boolean, client_token, optional, required, text_map, unused
from controlplane.rpc.errors import RpcError

Row = dict[str, Any]


def describe(given: Given) -> Answer:
    instance = instance_of(given["DBInstanceId"])
    line = instance_line(instance)
    _, rows = parameter_rows(instance)
    running = {row["name"]: row["running"] for row in rows if row["running"] is not None}
    configured = [_configured(row) for row in rows if row["configured"] is not None]
    return {
        "Engine": line.product,
        "EngineVersion": instance.engine_line,
        "ParamGroupInfo": _group_info(instance),
        "ConfigParameters": {"DBInstanceParameter": configured},
        "RunningParameters": {"DBInstanceParameter": [_running(row, line, running) for row in rows]},
    }


def _group_info(instance: Instance) -> Answer:
    """Returns the parameter group (template) that was applied last, since the dialect only knows one at a time; empty
    if there is none.
    """
    use = instance.template_uses.select_related("template").first()
    if use is None:
        return {}
    group = use.template
    return {
        "ParamGroupId": group.pk,
        "ParameterGroupName": group.name,
        "ParameterGroupDesc": group.description,
        "ParameterGroupType": "0" if group.is_system else "1",
    }


def _configured(row: Row) -> Answer:
    return {
        "ParameterName": row["name"],
        "ParameterValue": row["configured"],
        "ParameterDescription": row["description"],
    }


def _running(row: Row, line: Line, running: Mapping[str, str]) -> Answer:
    return {
        "ParameterName": row["name"],
        "ParameterValue": _value(row, line.definitions[row["name"]], running),
        "ParameterDefaultValue": row["default"] or "",
        "ParameterValueRange": row["allowed"],
        "ParameterDescription": row["description"],
    }


def _value(row: Row, definition: Definition, running: Mapping[str, str]) -> str:
    """Returns the value to show as running: the resolved configured value if the server runs that, allowing for
    rounding; otherwise the running value.

    If the server does not answer, the resolved value; empty if there is none.
    """
    resolved, value = row["resolved"], row["running"]
    if value is None:
        return resolved or ""
    return resolved if resolved is not None and is_same(definition, resolved, value, running) else value


def describe_templates(given: Given) -> Answer:
    """Returns the catalogue of parameters of an engine line, or of one instance's server if DBInstanceId is given."""
    line = line_of(given["Engine"], given["EngineVersion"])
    if given["DBInstanceId"]:
        line = instance_line(instance_of(given["DBInstanceId"]))
    records = [_template_record(each) for each in line.definitions.values()]
    return {
        "Engine": line.product,
        "EngineVersion": line.version,
        "ParameterCount": str(len(records)),
        "Parameters": {"TemplateRecord": records},
    }


def _template_record(definition: Definition) -> Answer:
    """Returns a parameter's definition in the form of the RPC dialect: whether it may be modified, and whether that
    takes a restart, are the texts `true` and `false`.
    """
    return {
        "ParameterName": definition.name,
        "ParameterValue": definition.default or "",
        "CheckingCode": definition.allowed.notation,
        "ForceModify": str(_may_modify(definition)).lower(),
        "ForceRestart": str(definition.needs_restart).lower(),
        "ParameterDescription": definition.description,
    }


def _may_modify(definition: Definition) -> bool:
    """Returns whether this caller may set the parameter.

    The dialect has one flag for that, and cannot say that only administrators may.
    """
    return definition.is_modifiable and (is_by_admin() or not definition.is_admin_only)


def modify(given: Given) -> Answer:
    if given["Parameters"] is None and given["ParameterGroupId"] is None:
        raise RpcError("MissingParameter", "ModifyParameter needs Parameters or ParameterGroupId.")
    instance = idle_instance(given["DBInstanceId"])
    wanted = checked(
        ChangeRequestSerializer,
        parameters=given["Parameters"],
        template=given["ParameterGroupId"],
        allow_restart=given["Forcerestart"],
        apply=True,
        note="ModifyParameter",
        **timing(given["SwitchTimeMode"], given["SwitchTime"]),
    )
    _refuse_silent_wait(instance, wanted)
    started(services.change_parameters(instance, **wanted))
    return {}


def _refuse_silent_wait(instance: Instance, wanted: Mapping[str, Any]) -> None:
    """Raises RpcError if the change would leave a static parameter waiting for a restart without consent
    (Forcerestart), since clients of this dialect would not notice.
    """
    if wanted["allow_restart"]:
        return
    group = template_version_get(template_get(wanted["template"])) if wanted["template"] else None
    preview = planning.preview_parameters(instance, parameters=wanted["parameters"], template=group)
    preview.refuse_if_blocked()
    waiting = [line.name for line in preview.lines if line.needs_restart]
    if waiting:
        raise RpcError(
            "OperationDenied.ForceRestartRequired",
            f"{', '.join(waiting)} takes a restart: say Forcerestart=true, or leave it out.",
            403,
        )


PARAMETERS: dict[str, Action] = {
    "DescribeParameters": reads(describe, required("DBInstanceId"), *unused("ClientToken")),
    "DescribeParameterTemplates": reads(
        describe_templates,
        required("Engine"),
        required("EngineVersion"),
        optional("DBInstanceId"),
        *unused("ClientToken", "Category"),
    ),
    "ModifyParameter": writes(
        modify,
        required("DBInstanceId"),
        optional("Parameters", text_map),
        optional("ParameterGroupId"),
        optional("Forcerestart", boolean, False),
        *timing_arguments("SwitchTimeMode"),
        optional("ClientToken", client_token),
    ),
}
