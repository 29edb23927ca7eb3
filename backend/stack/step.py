"""One-off commands of the control plane (`manage.py ...`), each with its own log."""

import subprocess
import sys
from collections.abc import Mapping

from stack.layout import BACKEND, PYTHON, RunDir
from stack.service import failure

_LIMIT_SECONDS = 300


def run(name: str, arguments: list[str], run_dir: RunDir, environment: Mapping[str, str]) -> str:
    """What the command printed; a failure shows the end of its log."""
    with run_dir.log(name).open("wb") as log:
        try:
            done = subprocess.run(
                [str(PYTHON), "manage.py", *arguments],
                cwd=BACKEND,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                timeout=_LIMIT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise failure(name, run_dir, f"did not end within {_LIMIT_SECONDS} s") from error
        log.write(done.stdout)
    if done.returncode != 0:
        raise failure(name, run_dir, f"failed with exit code {done.returncode}")
    return done.stdout.decode()


def progress(words: str) -> None:
    """To standard error, so that `--json` on standard output stays clean."""
    print(words, file=sys.stderr, flush=True)
