"""The environment of everything that a stack starts. The settings are declared in `config/environment.py`."""

import os

from stack.layout import RunDir
from stack.ports import FLEET_SETTING, LOOPBACK, Ports
from stack.process import MARK


def web_address(ports: Ports) -> str:
    return f"http://{LOOPBACK}:{ports.web}"


def for_children(run_dir: RunDir, ports: Ports, stack_id: str) -> dict[str, str]:
    return os.environ | {
        MARK: stack_id,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "FQC_RUN_DIR": str(run_dir.root),
        "FQC_PUBLIC_URL": web_address(ports),
        FLEET_SETTING: str(ports.fleet_base),
        "PYTHONUNBUFFERED": "1",
        # A starting MariaDB server deletes files in a shared folder that it takes for its own leftovers.
        "TMPDIR": str(run_dir.temporary),
    }
