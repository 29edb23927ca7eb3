"""How a command changes an instance: it creates a change set, asks if a restart is needed, approves it, and waits if
asked to.

The change set is created unapproved, so that what was shown is what is approved. A dry run for which the API has no
preview creates a change set and aborts it: nothing changes, but its record, in the state `aborted`, remains.
"""

from __future__ import annotations

from typing import Any

from fqc import change_view
from fqc.asking import confirm
from fqc.call import Call
from fqc.failure import Exit, Failure
from fqc.output import say
from fqc.units import point
from fqc.waiting import until

ENDED = {"applied", "rolled_back", "failed", "aborted"}


def run(call: Call, path: str, body: dict[str, Any], *, question: str = "") -> None:
    """Creates a change set by a POST of `body` to `path`, and brings it to its end as the options say. `question` is
    asked before the approval; without one, the user is only asked if the server will be restarted.
    """
    change = call.api.post(path, {**body, "note": call.note, "apply": False})
    if call.is_dry_run:
        call.show(call.api.post(f"changes/{change['id']}/abort"), change_view.change)
        return
    if call.is_kept:
        call.show(change, change_view.change)
        return
    _ask(call, change, question)
    finish(call, _approve(call, change))


def preview(call: Call, path: str, body: dict[str, Any]) -> None:
    """Prints the API's preview for a dry run. Raises a Failure with exit code 4 if the change is blocked."""
    found = call.api.post(path, body)
    call.show(found, change_view.preview)
    if found["is_blocked"]:
        raise Failure("Blocked by a check.", Exit.REFUSED, hint="The findings say how to fix it.")


def timing(call: Call) -> dict[str, Any]:
    """Returns the fields of a request that say when the change runs: at a time, in the maintenance window, or now."""
    if call.at:
        return {"when": "at", "at": point(call.at)}
    return {"when": "window" if call.in_window else "now"}


def _ask(call: Call, change: dict[str, Any], question: str) -> None:
    """Asks whether to go on, if there is a question or the server will be restarted. If the answer is no, or on Ctrl-C,
    aborts the change set and raises the error.
    """
    if not (change["needs_restart"] or question):
        return
    words = question or f"{change['instance_name']} will be restarted. Continue?"
    try:
        confirm(call, words)
    except BaseException:
        call.api.post(f"changes/{change['id']}/abort")
        raise


def _approve(call: Call, change: dict[str, Any]) -> dict[str, Any]:
    """Approves the change set and returns it. Returns it unapproved if a second person has to approve it."""
    if awaits_second_person(change):
        return change
    approved: dict[str, Any] = call.api.post(f"changes/{change['id']}/approve", {**timing(call), "note": call.note})
    return approved


def awaits_second_person(change: dict[str, Any]) -> bool:
    """Returns True if a second person has to approve the change set, and then also prints how."""
    if change["needs_second_person"]:
        say(f"A second person must approve it: fqc change approve {change['id']}")
    return bool(change["needs_second_person"])


def finish(call: Call, change: dict[str, Any]) -> None:
    """Prints the change set, with --wait after it has ended. Raises a Failure if it ended without being applied."""
    if call.is_waiting:
        change = wait(call, change["id"])
    call.show(change, change_view.change)
    fail_unless_well(change)


def wait(call: Call, change_id: str) -> dict[str, Any]:
    """Waits until the change set has ended, and returns it. Raises a Failure when the time of --timeout is up; the
    change continues.
    """
    found: dict[str, Any] = until(
        lambda: call.api.get(f"changes/{change_id}"),
        lambda change: change["state"] in ENDED,
        lambda change: (change["state"], change["progress"]["done"], change["progress"]["total"]),
        timeout_seconds=call.timeout_seconds,
        what=f"Change {change_id}",
        hint=f"It continues in the background: fqc change show {change_id} --watch",
    )
    return found


def fail_unless_well(change: dict[str, Any]) -> None:
    """Raises a Failure if the change set failed, was rolled back or was aborted."""
    if change["state"] in ("failed", "rolled_back", "aborted"):
        raise Failure(
            f"Change {change['id']} ended as {change['state']}: {change['outcome_detail'] or change['outcome_code']}",
            hint="Its steps show where it ended.",
        )
