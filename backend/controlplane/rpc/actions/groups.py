"""Parameter groups: what the control plane calls templates."""

from __future__ import annotations

import re
from collections.abc import Iterable

from controlplane.catalogue.selectors import line_get
from controlplane.fleet.models import TemplateUse
from controlplane.parameters import services
from controlplane.parameters.models import Template, TemplateVersion
from controlplane.parameters.selectors import template_get, template_list, template_values
from controlplane.parameters.serializers import (
    TemplateCloneSerializer,
    TemplateCreateSerializer,
    TemplateUpdateSerializer,
)
from controlplane.rpc.actions.action import Action, Answer, Given, checked, reads, utc, writes
from controlplane.rpc.actions.lines import line_of
from controlplane.rpc.arguments import boolean, one_of, optional, required, text_map, unused

NAME = re.compile(r"[A-Za-z][A-Za-z0-9._]{7,63}")
MERGE, OVERWRITE = "Collectivity", "Individual"
MODES = {MERGE: services.MERGE, OVERWRITE: services.OVERWRITE}


def group_name(raw: str) -> str:
    if not NAME.fullmatch(raw):
        raise ValueError("write 8 to 64 letters, digits, . or _, a letter first")
    return raw


def description(raw: str) -> str:
    if len(raw) > 200:
        raise ValueError("write at most 200 characters")
    return raw


def create(given: Given) -> Answer:
    line = line_of(given["Engine"], given["EngineVersion"])
    wanted = checked(
        TemplateCreateSerializer,
        name=given["ParameterGroupName"],
        description=given["ParameterGroupDesc"],
        engine_line=line.id,
        values=given["Parameters"],
    )
    return {"ParameterGroupId": services.template_create(**wanted).pk}


def modify(given: Given) -> Answer:
    wanted = checked(
        TemplateUpdateSerializer,
        name=given["ParameterGroupName"],
        description=given["ParameterGroupDesc"],
        values=given["Parameters"],
        mode=MODES[given["ModifyMode"]],
    )
    template = template_get(given["ParameterGroupId"])
    return {"ParameterGroupId": services.template_update(template=template, **wanted).pk}


def clone(given: Given) -> Answer:
    wanted = checked(TemplateCloneSerializer, name=given["ParameterGroupName"], description=given["ParameterGroupDesc"])
    return {"ParameterGroupId": services.template_clone(source=template_get(given["ParameterGroupId"]), **wanted).pk}


def delete(given: Given) -> Answer:
    template = template_get(given["ParameterGroupId"])
    services.template_delete(template=template)
    return {"ParameterGroupId": given["ParameterGroupId"]}


def describe_all(given: Given) -> Answer:
    templates = list(template_list())
    newest = _newest_values(templates)
    return {"ParameterGroups": {"ParameterGroup": [_group(each, newest[each.pk]) for each in templates]}}


def _newest_values(templates: Iterable[Template]) -> dict[str, dict[str, str]]:
    """Returns, by template id, the values of the newest version of each of these templates, with one query."""
    current = {(each.pk, each.version) for each in templates}
    rows = TemplateVersion.objects.filter(template__in=[pk for pk, _ in current])
    values = rows.values_list("template_id", "number", "values")
    return {template: texts for template, number, texts in values if (template, number) in current}


def describe_one(given: Given) -> Answer:
    template = template_get(given["ParameterGroupId"])
    values = template_values(template)
    details = [{"ParamName": name, "ParamValue": text} for name, text in values.items()]
    group = _group(template, values) | {"ParamDetail": {"ParameterDetail": details}}
    return {
        "ParamGroup": {"ParameterGroup": [group]},
        "RelatedCustinsInfo": {"RelatedCustinsInfo": [_use(each) for each in template.uses.all()]},
    }


def _group(template: Template, values: dict[str, str]) -> Answer:
    line = line_get(template.engine_line)
    definitions = [line.get(name) for name in values]
    return {
        "ParameterGroupId": template.pk,
        "ParameterGroupName": template.name,
        "ParameterGroupDesc": template.description,
        "ParameterGroupType": 0 if template.is_system else 1,
        "Engine": line.product.lower(),
        "EngineVersion": line.version,
        "ParamCounts": len(values),
        "ForceRestart": int(any(each.needs_restart for each in definitions if each)),
        "CreateTime": utc(template.created_at),
        "UpdateTime": utc(template.updated_at),
    }


def _use(use: TemplateUse) -> Answer:
    return {"DBInstanceName": use.instance_id, "AppliedTime": utc(use.applied_at)}


GROUP = required("ParameterGroupId")
DESCRIPTION = optional("ParameterGroupDesc", description)
GROUPS: dict[str, Action] = {
    "CreateParameterGroup": writes(
        create,
        required("Engine"),
        required("EngineVersion"),
        required("ParameterGroupName", group_name),
        required("Parameters", text_map),
        DESCRIPTION,
    ),
    "ModifyParameterGroup": writes(
        modify,
        GROUP,
        optional("ParameterGroupName", group_name),
        optional("Parameters", text_map),
        optional("ModifyMode", one_of(MERGE, OVERWRITE), MERGE),
        DESCRIPTION,
    ),
    "CloneParameterGroup": writes(
        clone, GROUP, required("ParameterGroupName", group_name), DESCRIPTION, *unused("TargetRegionId")
    ),
    "DeleteParameterGroup": writes(delete, GROUP),
    "DescribeParameterGroups": reads(describe_all, optional("EnableDetail", boolean)),
    "DescribeParameterGroup": reads(describe_one, GROUP),
}
