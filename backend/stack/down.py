"""`down` and `reset`: stop everything this stack started, and only that; `reset` forgets its data too."""

import shutil
from collections.abc import Collection
from pathlib import Path

from stack import fleet, process, record
from stack.layout import RunDir
from stack.problem import Problem

# A worker finishes its current task; a change set should not be interrupted in the middle of a step.
_GRACE_SECONDS = 20.0
# The background build holds the lock for a moment, while it starts what it built.
_PATIENCE_SECONDS = 30.0
# Kept by `reset`: what the stack did not make, and the lock that is held.
_NOT_OURS = {"test", "stack.lock"}


def down(run_dir: RunDir) -> None:
    if not run_dir.record.exists():
        return
    with record.locked(run_dir.lock, _PATIENCE_SECONDS):
        stop_everything(run_dir, record.load(run_dir.record))


def reset(run_dir: RunDir) -> None:
    if not run_dir.root.exists():
        return
    if not run_dir.record.exists():
        raise Problem(f"{run_dir.root} holds no stack.json, so it is not a stack's run directory; nothing was removed")
    with record.locked(run_dir.lock, _PATIENCE_SECONDS):
        stop_everything(run_dir, record.load(run_dir.record))
        for entry in run_dir.root.iterdir():
            if entry.name not in _NOT_OURS:
                _remove(entry)


def stop_services(run_dir: RunDir, kept: record.Record, spared: Collection[str] = ()) -> None:
    try:
        process.stop([each for name, each in kept.processes.items() if name not in spared], _GRACE_SECONDS)
    finally:
        kept.processes = kept.running()
        record.save(run_dir.record, kept)


def stop_everything(run_dir: RunDir, kept: record.Record) -> None:
    try:
        stop_services(run_dir, kept)
    finally:
        try:
            fleet.stop(run_dir, kept)
        finally:
            # Ends processes that outlived their parent, and those of a fleet that could not be stopped.
            process.stop(process.marked(kept.stack_id), _GRACE_SECONDS)
            run_dir.near_build.unlink(missing_ok=True)


def _remove(entry: Path) -> None:
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink()
