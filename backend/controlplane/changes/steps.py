"""How each kind of step alters a server, how it is undone, and how the whole change is verified.

Nothing else in the control plane alters a server.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import structlog
from django.conf import settings

from controlplane.catalogue.definition import Definition
from controlplane.catalogue.line import Line
from controlplane.catalogue.sameness import is_same
from controlplane.catalogue.validation import violations
from controlplane.changes.models import ChangeLine, ChangeSet, ChangeStep
from controlplane.changes.states import Kind
from controlplane.core.errors import Conflict, Problem
from controlplane.fleet.connection import opened
from controlplane.fleet.definitions import instance_line
from controlplane.fleet.local import configure, known_to_server, local_server
from controlplane.fleet.models import Instance
from controlplane.fleet.observation import Identity, learn_line, note_identity, read_identity
from controlplane.fleet.states import Provider
from controlplane.gateway.engine import install_engine
from controlplane.gateway.errors import RefusedStatement
from controlplane.gateway.local_accounts import Use
from controlplane.gateway.product import DEFAULT_PRODUCT
from controlplane.gateway.server import Server

log = structlog.get_logger(__name__)
RESIZE_SECONDS = 600
LOOK_EVERY_SECONDS = 0.1


class StepFailed(Problem):
    status, code, title = 502, "step_failed", "A step failed"


class NotVerified(Problem):
    status, code, title = 502, "verification_failed", "The server does not run what was set"


class Run:
    """One execution of a change set: the change, its instance, one connection, and the lease that is renewed during
    long waits.

    The connection only lasts as long as the lease, so that this worker sets nothing after another one took over.
    """

    def __init__(self, change: ChangeSet, renew: Callable[[], None]) -> None:
        if change.instance is None:
            raise Conflict(f"The instance of {change.pk} no longer exists.", code="instance_gone")
        self.change, self._renew = change, renew
        self._until = _lease_end()
        self.instance: Instance = change.instance
        self.lines: list[ChangeLine] = list(change.lines.all())
        self.has_restarted = False
        self.running: dict[str, str] | None = None  # values by name at the end; None if the server was not asked
        self._server: Server | None = None
        self._line: Line | None = None  # the line of the server as it was last read

    @property
    def server(self) -> Server:
        if self._server is None:
            self._server = opened(self.instance, Use.CHANGE)
            self._server.until = self._until
        return self._server

    def renew(self) -> None:
        until = _lease_end()
        self._renew()
        self._until = until
        if self._server is not None:
            self._server.until = until

    def close(self) -> None:
        if self._server is not None:
            self._server.close()
        self._server = None

    def look(self) -> None:
        """Reads all values that run now into `running`, if this change is connected to the server."""
        if self._server is not None:
            self.running = self._server.variables()

    def note(self, identity: Identity, *, is_new_start: bool = False) -> None:
        note_identity(self.instance, identity, is_new_start=is_new_start)
        self._line = None

    @property
    def line(self) -> Line:
        self._line = self._line or instance_line(self.instance)
        return self._line

    def definition(self, name: str) -> Definition:
        found = self.line.get(name)
        if found is None:
            raise StepFailed(f"{name} is not in the catalogue of {self.instance.name}.")
        return found

    def check_unmoved(self) -> None:
        """Raises Conflict if the instance, or a value to be replaced, has changed since the preview, so that only what
        was previewed is applied.

        An old value that the preview could not read is stored in its step.
        """
        if self.instance.version != self.change.instance_version:
            raise Conflict("The instance has changed since the preview: preview it again.", code="instance_moved")
        for step in self.change.steps.all():
            if step.kind == "set_global":
                self._check_old(step)

    def check_allowed(self) -> None:
        """Checks each new value again by today's definitions and access classes, which may have changed since the
        preview.

        Raises StepFailed or Conflict.
        """
        for line in self.lines:
            if line.new_value is not None:
                self._check_line(line)

    def _check_line(self, line: ChangeLine) -> None:
        definition = self.definition(line.name)
        if not definition.is_modifiable:
            raise StepFailed(f"{line.name} is not set through this product.")
        if definition.is_admin_only and line.new_submitted != line.old_submitted and not self.change.needs_admin:
            raise Conflict(f"{line.name} is for administrators: preview the change again.", code="admin_only")
        if found := violations(definition, str(line.new_value)):
            raise StepFailed(f"{line.name}: {found[0].detail}.")

    def _check_old(self, step: ChangeStep) -> None:
        running = self.server.variable(step.name)
        if step.old is None:
            step.old = running  # the preview could not read the value; undoing restores what is found now
            step.save(update_fields=["old"])
        elif not self._is(step.name, step.old, running):
            raise Conflict(f"{step.name} was {step.old} at the preview and is {running} now.", code="instance_moved")

    def reads(self, name: str, value: str) -> bool:
        """Returns whether the server runs `value` for the variable `name` now, allowing for rounding."""
        return self._is(name, value, self.server.variable(name))

    def _is(self, name: str, value: str, found: str | None, running: Mapping[str, str] | None = None) -> bool:
        """Returns whether `found` is `value`, allowing for rounding.

        `running` has other running values, which rounding may depend on; None: they are read from the server.
        """
        if found is None:
            return False
        return is_same(self.definition(name), value, found, self._rounding(name) if running is None else running)

    def verify(self) -> None:
        """Reads the server's values after all steps, and raises NotVerified unless each new value runs.

        Values that wait for a restart are left out.
        """
        lines = [line for line in self.lines if line.new_value is not None]
        lines = [line for line in lines if self.has_restarted or not line.needs_restart]
        if lines or self._server is not None:
            self.running = self.server.variables()
        for line in lines:
            found = (self.running or {}).get(line.name)
            if not self._is(line.name, str(line.new_value), found, self.running):
                raise NotVerified(f"{line.name} was set to {line.new_value}, but the server runs {found}.")

    def _rounding(self, name: str) -> dict[str, str]:
        parts = [part for part in self.definition(name).rounds_to if isinstance(part, str)]
        return {part: self.server.variable(part) or "1" for part in parts}


def _lease_end() -> float:
    """Returns the end of a lease that is renewed now, on the monotonic clock, but not before a statement can end: an
    operator may set a lease shorter than that.
    """
    return time.monotonic() + max(settings.CHANGE_LEASE_SECONDS, settings.STATEMENT_TIMEOUT_SECONDS)


def do_step(run: Run, step: ChangeStep) -> None:
    DO[step.kind](run, step)


def undo_step(run: Run, step: ChangeStep) -> None:
    UNDO[step.kind](run, step)


def _set_global(run: Run, step: ChangeStep) -> None:
    # Only names of the catalogue reach a statement. The check is repeated, since an older version may have approved the
    # change.
    if not run.definition(step.name).is_modifiable:
        raise StepFailed(f"{step.name} is not set through this product.")
    _assign(run, step.name, step.new)


def _assign(run: Run, name: str, value: str | None) -> None:
    if value is None:
        run.server.set_global_default(name)
        return
    run.server.set_global(name, value)
    _await_value(run, name, value)


def _await_value(run: Run, name: str, value: str) -> None:
    """Returns once the server runs the value, and raises NotVerified if it does not.

    Only the buffer pool is waited for: some servers resize it after the statement has returned.
    """
    deadline = time.monotonic() + RESIZE_SECONDS
    while not run.reads(name, value):
        if name != "innodb_buffer_pool_size" or time.monotonic() > deadline:
            raise NotVerified(f"{name} was set to {value}, but the server runs {run.server.variable(name)}.")
        run.renew()
        time.sleep(LOOK_EVERY_SECONDS)


def _restore_global(run: Run, step: ChangeStep) -> None:
    if step.old is not None and not run.reads(step.name, step.old):
        _assign(run, step.name, step.old)


def _persist(run: Run, step: ChangeStep) -> None:
    step.old = run.server.kept(step.name)  # undoing restores what the server had persisted until now
    step.save(update_fields=["old"])
    _keep(run, step.name, step.new)


def _restore_persisted(run: Run, step: ChangeStep) -> None:
    if run.server.kept(step.name) != step.old:
        _keep(run, step.name, step.old)


def _keep(run: Run, name: str, value: str | None) -> None:
    definition = run.definition(name)
    if not definition.is_modifiable:
        raise StepFailed(f"{name} is not set through this product.")
    run.server.keep(name, value, is_static=definition.needs_restart)


def _configured(run: Run, *, with_lines: bool) -> dict[str, str]:
    values = dict(run.instance.parameters.values_list("name", "resolved"))
    for line in run.lines if with_lines else ():
        if line.new_submitted is None:
            values.pop(line.name, None)
        elif line.new_value is not None:
            values[line.name] = line.new_value
    return values


def _write_configuration(run: Run, step: ChangeStep) -> None:
    set_ = {line.name for line in run.lines if line.new_value is not None}
    if unknown := set_ - known_to_server(run.instance, set_):
        raise StepFailed(f"{run.instance.name} has no variable {min(unknown)}.")
    configure(run.instance, _configured(run, with_lines=True))


def _restore_configuration(run: Run, step: ChangeStep) -> None:
    configure(run.instance, _configured(run, with_lines=False))


def _restart(run: Run, step: ChangeStep) -> None:
    run.close()
    run.has_restarted = True
    local_server(run.instance).restart()
    run.renew()
    run.note(read_identity(run.server), is_new_start=True)


def _nothing(run: Run, step: ChangeStep) -> None:
    """Does nothing on the server: the instance's class and proxy are facts of the control plane, which are stored when
    the change ends.
    """


def _provision(run: Run, step: ChangeStep) -> None:
    server = local_server(run.instance)
    server.make()
    configure(run.instance, _configured(run, with_lines=True))
    run.renew()
    server.start()


def _remove(run: Run, step: ChangeStep) -> None:
    run.close()
    if run.instance.provider == Provider.LOCAL:
        local_server(run.instance).remove()


def _install_engine(run: Run, step: ChangeStep) -> None:
    server = local_server(run.instance)
    try:
        install_engine(server, run.server, settings.ENGINE_LIBRARY)
    except RefusedStatement as error:
        # The library is made for the product but refuses this server version. The new server works without the engine.
        if run.change.kind != Kind.CREATE or server.product is DEFAULT_PRODUCT:
            raise
        log.warning("engine_refused", instance=run.instance.pk, detail=error.detail)
    _connect(run, step)


def _connect(run: Run, step: ChangeStep) -> None:
    identity = read_identity(run.server)
    learn_line(run.instance, run.server, identity.engine_version, identity.minor_version)
    run.note(identity)
    step.new = identity.engine_version


def _leave(run: Run, step: ChangeStep) -> None:
    """Does nothing, since there is nothing to undo: an installed engine may stay, because it serves nothing until it is
    switched on.
    """


def _cannot(run: Run, step: ChangeStep) -> None:
    raise StepFailed("deleted data cannot be restored.")


DO: dict[str, Callable[[Run, ChangeStep], None]] = {
    "set_global": _set_global,
    "persist": _persist,
    "write_configuration": _write_configuration,
    "restart": _restart,
    "set_class": _nothing,
    "set_proxy": _nothing,
    "provision": _provision,
    "install_engine": _install_engine,
    "connect": _connect,
    "deprovision": _remove,
}
UNDO: dict[str, Callable[[Run, ChangeStep], None]] = {
    "set_global": _restore_global,
    "persist": _restore_persisted,
    "write_configuration": _restore_configuration,
    "restart": _restart,
    "set_class": _nothing,
    "set_proxy": _nothing,
    "provision": _remove,
    "install_engine": _leave,
    "connect": _leave,
    "deprovision": _cannot,
}
