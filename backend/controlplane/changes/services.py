"""Makes change sets and decides about them. `execution` runs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from controlplane.accounts.roles import is_by_admin
from controlplane.audit.services import audit_record
from controlplane.changes import cache_planning, planning, resize_planning
from controlplane.changes.delivery import deliver
from controlplane.changes.models import ChangeLine, ChangeSet, ChangeStep
from controlplane.changes.outcome import publish
from controlplane.changes.plan import Step
from controlplane.changes.planning import Preview
from controlplane.changes.selectors import is_due
from controlplane.changes.states import AT_WORK, WAITING, ChangeState, Kind, When
from controlplane.changes.windows import window_opening
from controlplane.core import clock
from controlplane.core.errors import Conflict, Denied, Refused
from controlplane.core.etag import row_held
from controlplane.core.request_context import caller
from controlplane.fleet import services as fleet
from controlplane.fleet.models import Instance
from controlplane.fleet.selectors import class_get
from controlplane.fleet.states import Provider, State
from controlplane.parameters.models import TemplateVersion
from controlplane.parameters.selectors import template_get, template_version_get
from controlplane.prerequisites.gate import USE_REPLICA, engine_obstacle, install_statements
from controlplane.settings.selectors import settings_get

AT_ONCE: dict[str, Any] = {"apply": True, "when": When.NOW, "at": None}
SECOND_PERSON = "This change needs a second person: have someone else approve it."


@transaction.atomic
def change_make(
    instance: Instance,
    kind: Kind,
    preview: Preview,
    *,
    note: str = "",
    reverts: ChangeSet | None = None,
    template: TemplateVersion | None = None,
    is_replacement: bool = False,
) -> ChangeSet:
    """Stores a preview as a change set that waits for approval.

    Raises Refused if a finding of the preview blocks it.
    """
    preview.refuse_if_blocked()
    who = caller()
    change = ChangeSet.objects.create(
        instance=instance,
        instance_name=instance.name,
        kind=kind,
        note=note,
        findings=[asdict(each) for each in preview.findings],
        instance_version=preview.instance_version,
        needs_restart=preview.needs_restart,
        needs_admin=preview.needs_admin,
        needs_second_person=_is_grave(instance, kind, preview) and settings_get().is_four_eyes,
        created_by=who.actor,
        created_by_id=who.actor_id,
        reverts=reverts,
        template=template and template.template,
        template_version=template and template.number,
        is_replacement=is_replacement,
    )
    lines = ChangeLine.objects.bulk_create(
        ChangeLine(
            change=change,
            name=line.name,
            unit=line.unit,
            old_submitted=line.old_submitted,
            new_submitted=line.new_submitted,
            old_value=line.old_value,
            new_value=line.new_value,
            needs_restart=line.needs_restart,
        )
        for line in preview.lines
    )
    ChangeStep.objects.bulk_create(ChangeStep(change=change, **step) for step in preview.steps)
    audit_record("change.previewed", change, after=_facts(change, lines))
    publish(change)
    return change


def _is_grave(instance: Instance, kind: Kind, preview: Preview) -> bool:
    """Returns whether the change restarts a server or destroys its data."""
    return preview.needs_restart or (kind == Kind.DELETE and instance.provider == Provider.LOCAL)


def _facts(change: ChangeSet, lines: list[ChangeLine]) -> dict[str, Any]:
    texts = {line.name: [line.old_submitted, line.new_submitted] for line in lines}
    return {"kind": change.kind, "state": change.state, "instance": change.instance_name, "lines": texts}


@transaction.atomic
def change_request(
    instance: Instance, kind: Kind, preview: Preview, *, apply: bool, when: str, at: datetime | None, **facts: Any
) -> ChangeSet:
    """Makes a change set and, with `apply`, approves it for this time, unless a second person must.

    `facts` are passed to `change_make`. If the approval fails, the change set is not kept.
    """
    change = change_make(instance, kind, preview, **facts)
    if apply and not change.needs_second_person:
        return change_approve(change, when, at)
    ChangeSet.objects.filter(pk=change.pk).update(when=when, at=at)
    return change


@transaction.atomic
def change_approve(change: ChangeSet, when: str = When.NOW, at: datetime | None = None) -> ChangeSet:
    change = row_held(change)
    change_approve_held(change, when, at)
    if when == When.NOW:
        transaction.on_commit(lambda: deliver(change.pk))
    return change


def change_approve_held(change: ChangeSet, when: str = When.NOW, at: datetime | None = None) -> None:
    """Approves a change; the caller must then deliver it if it is to run at once.

    The caller's transaction must have made the change or hold a lock on its row. Raises Conflict or Denied if it cannot
    be approved now, or not by this caller.
    """
    if change.state != ChangeState.PREVIEWED:
        raise Conflict(f"{change.pk} is {change.state}: only a previewed one can be approved.", code="wrong_state")
    if change.needs_second_person and caller().actor_id == change.created_by_id:
        raise Denied(SECOND_PERSON, code="second_person_needed")
    refuse_unless_admin(change)
    instance, now = _unmoved(change), clock.shared_now()
    change.state, change.when, change.at = ChangeState.APPROVED, when, at
    change.approved_by = caller().actor
    change.not_before = _not_before(instance, when, at, now)
    _refuse_if_busy(change, now)
    change.version += 1
    change.save(update_fields=["state", "when", "at", "approved_by", "not_before", "version"])
    audit_record("change.approved", change, after={"when": when, "not_before": change.not_before.isoformat()})
    publish(change)


def refuse_unless_admin(change: ChangeSet) -> None:
    if change.needs_admin and not is_by_admin():
        raise Denied(
            f"{change.pk} sets parameters reserved for administrators: one of them must start it.", code="admin_only"
        )


def _unmoved(change: ChangeSet) -> Instance:
    """Returns the change's instance with a lock, so that nothing else is approved for it until the transaction ends.

    Raises Conflict if the instance has changed since the preview, or was deleted.
    """
    instance = Instance.objects.select_for_update(no_key=True).filter(pk=change.instance_id).first()
    if instance is None or instance.version != change.instance_version:
        raise Conflict("The instance has changed since the preview: preview it again.", code="instance_moved")
    return instance


def _refuse_if_busy(change: ChangeSet, now: datetime) -> None:
    """Raises Conflict if another change is due or running on the instance: the later one would find the instance
    changed and undo itself.
    """
    if change.when != When.NOW and change.not_before > now:
        return
    others = ChangeSet.objects.filter(is_due(now) | Q(state__in=AT_WORK), instance=change.instance_id)
    other = others.exclude(pk=change.pk).first()
    if other is not None:
        raise Conflict(
            f"{other.pk} ({other.kind}) is {other.state} on {change.instance_name}: let it finish, or abort it.",
            code="change_at_work",
        )


def _not_before(instance: Instance, when: str, at: datetime | None, now: datetime) -> datetime:
    if when == When.AT and at is not None:
        return max(at, now)
    if when == When.WINDOW:
        return window_opening(now, instance.window_weekday, instance.window_start, instance.window_minutes)
    return now


@transaction.atomic
def change_apply_now(change: ChangeSet) -> ChangeSet:
    change = row_held(change)
    if change.state == ChangeState.PREVIEWED:
        return change_approve(change)
    if change.state != ChangeState.APPROVED or change.when == When.NOW:
        when = " to run now" if change.state == ChangeState.APPROVED else ""
        raise Conflict(f"{change.pk} is {change.state}{when}: there is nothing to start.", code="wrong_state")
    refuse_unless_admin(change)
    _unmoved(change)
    before = {"when": change.when}
    change.when, change.not_before = When.NOW, clock.shared_now()
    _refuse_if_busy(change, change.not_before)
    change.version += 1
    change.save(update_fields=["when", "not_before", "version"])
    audit_record("change.brought_forward", change, before=before, after={"when": When.NOW})
    transaction.on_commit(lambda: deliver(change.pk))
    return change


@transaction.atomic
def change_abort(change: ChangeSet) -> ChangeSet:
    given_up = ChangeSet.objects.filter(pk=change.pk, state__in=WAITING)
    if given_up.update(state=ChangeState.ABORTED, finished_at=timezone.now(), version=F("version") + 1):
        change.state = ChangeState.ABORTED
        _release_new_instance(change)
    elif not ChangeSet.objects.filter(pk=change.pk, state__in=AT_WORK).update(is_abort_requested=True):
        raise Conflict(f"{change.pk} is {change.state}: there is nothing to abort.", code="wrong_state")
    audit_record("change.aborted", change, before={"state": change.state})
    publish(change)
    return change


def _release_new_instance(change: ChangeSet) -> None:
    if change.kind == Kind.CREATE and change.instance is not None:
        fleet.instance_state_set(change.instance, State.FAILED, "its creation was aborted")


def change_parameters(
    instance: Instance,
    *,
    apply: bool,
    when: str,
    at: Any,
    note: str,
    template: str | None = None,
    template_version: int | None = None,
    replace: bool = False,
    **wanted: Any,
) -> ChangeSet:
    refuse_unless_settled(instance)
    version = template_version_get(template_get(template), template_version) if template else None
    preview = planning.preview_parameters(instance, template=version, replace=replace, **wanted)
    facts = {"note": note, "template": version, "is_replacement": replace}
    return change_request(instance, Kind.PARAMETERS, preview, apply=apply, when=when, at=at, **facts)


def change_enable(instance: Instance, *, apply: bool, when: str, at: Any, note: str, **sizing: Any) -> ChangeSet:
    refuse_unless_settled(instance)
    preview = cache_planning.preview_enable(instance, **sizing)
    return change_request(instance, Kind.ENABLE, preview, apply=apply, when=when, at=at, note=note)


def change_disable(
    instance: Instance, *, apply: bool, when: str, at: Any, note: str, restore_buffer_pool: bool
) -> ChangeSet:
    refuse_unless_settled(instance)
    preview = cache_planning.preview_disable(instance, restore_buffer_pool=restore_buffer_pool)
    return change_request(instance, Kind.DISABLE, preview, apply=apply, when=when, at=at, note=note)


def change_resize(
    instance: Instance,
    *,
    instance_class: str,
    parameters: Mapping[str, str | None],
    allow_restart: bool,
    apply: bool,
    when: str,
    at: Any,
    note: str,
) -> ChangeSet:
    refuse_unless_settled(instance)
    preview = resize_planning.preview_resize(instance, class_get(instance_class), parameters, allow_restart)
    return change_request(instance, Kind.RESIZE, preview, apply=apply, when=when, at=at, note=note)


def change_of_steps(instance: Instance, kind: Kind, steps: list[Step], note: str, timing: dict[str, Any]) -> ChangeSet:
    """Makes a change set of these steps, which changes no parameters.

    `timing` has the arguments `apply`, `when` and `at` of `change_request`.
    """
    preview = planning.build(instance, steps, is_live=False)
    return change_request(instance, kind, preview, note=note, **timing)


def change_restart(instance: Instance, *, note: str, **timing: Any) -> ChangeSet:
    _refuse_unless_local(instance, "Restart it with its own tools; the next poll notices the restart.")
    return change_of_steps(instance, Kind.RESTART, [Step("write_configuration"), Step("restart")], note, timing)


def change_upgrade(instance: Instance, *, note: str, **timing: Any) -> ChangeSet:
    return change_request(instance, Kind.UPGRADE, upgrade_preview(instance), note=note, **timing)


def upgrade_preview(instance: Instance) -> Preview:
    if obstacle := engine_obstacle(instance):
        raise Conflict(f"{obstacle[0].upper()}{obstacle[1:]}. {USE_REPLICA}", code="no_engine_there")
    _refuse_unless_local(instance, "\n".join(["Run on the server, then check again:", *install_statements(instance)]))
    # A loaded library stays in memory until the server restarts.
    replaces = instance.minor_version is not None
    steps = [Step("install_engine", old=str(instance.minor_version or "") or None)]
    return planning.build(instance, steps + [Step("restart")] * replaces, is_live=False)


def change_proxy(instance: Instance, *, enabled: bool, note: str, **timing: Any) -> ChangeSet:
    refuse_unless_settled(instance)
    step = Step("set_proxy", old=str(instance.proxy_enabled).lower(), new=str(enabled).lower())
    return change_of_steps(instance, Kind.PROXY, [step], note, timing)


def change_revert(change: ChangeSet) -> ChangeSet:
    """Makes and approves a change set that restores the values that `change`, an applied one, replaced.

    It stays unapproved if it needs a second person. Raises Conflict if there is nothing to restore.
    """
    preview = revert_preview(change)
    with transaction.atomic():
        made = revert_make(change, preview)
        return made if made.needs_second_person else change_approve(made)


def revert_preview(change: ChangeSet) -> Preview:
    instance = change.instance
    if change.state != ChangeState.APPLIED or instance is None:
        raise Conflict(f"{change.pk} is {change.state}: only an applied one can be rolled back.", code="wrong_state")
    refuse_unless_settled(instance)
    _refuse_if_reverted(change)
    lines = list(change.lines.all())
    wanted = {line.name: line.old_submitted for line in lines}
    ran = {line.name: line.old_value for line in lines if line.old_submitted is None and line.old_value is not None}
    if not wanted:
        raise Conflict(f"{change.pk} changed no parameter: there is nothing to restore.", code="nothing_to_restore")
    return planning.preview_wanted(
        instance, planning.situation_of(instance), wanted, allow_restart=change.needs_restart, restored=ran
    )


@transaction.atomic
def revert_make(change: ChangeSet, preview: Preview) -> ChangeSet:
    _refuse_if_reverted(row_held(change))
    assert change.instance is not None  # noqa: S101 - the preview needed it
    note = f"restores what {change.pk} replaced"
    return change_make(change.instance, Kind.REVERT, preview, note=note, reverts=change)


def _refuse_if_reverted(change: ChangeSet) -> None:
    """Raises Conflict if the change is being rolled back already, for example by a second request at the same time."""
    in_vain = (ChangeState.ROLLED_BACK, ChangeState.FAILED, ChangeState.ABORTED)
    made = change.reverted_by.exclude(state__in=in_vain).first()
    if made is not None:
        raise Conflict(f"{change.pk} is rolled back by {made.pk}, which is {made.state}.", code="reverted_already")


def refuse_unless_settled(instance: Instance) -> None:
    if instance.state in (State.CREATING, State.DELETING):
        raise Conflict(f"{instance.name} is {instance.state}: wait until that has finished.", code="instance_busy")


def _refuse_unless_local(instance: Instance, remedy: str) -> None:
    refuse_unless_settled(instance)
    if instance.provider != Provider.LOCAL:
        raise Refused(f"{instance.name} is not run by this control plane. {remedy}", code="not_local")
