"""The disk of the run: a small file system that can be filled. Only root may mount one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

BYTES = 2 * 1024**3


class Disk:
    def __init__(self, folder: Path) -> None:
        self.folder, self._ballast = folder, folder / "ballast"
        self.is_fillable = os.geteuid() == 0 and self._mount()

    def _mount(self) -> bool:
        words = ["mount", "-t", "tmpfs", "-o", f"size={BYTES},mode=755", "fqc-faults", str(self.folder)]
        return subprocess.run(words, check=False).returncode == 0

    def fill(self) -> None:
        """Fills the disk completely."""
        with self._ballast.open("wb", buffering=0) as file:
            chunk = bytes(1024**2)
            while chunk:
                try:
                    file.write(chunk)
                except OSError:
                    chunk = chunk[: len(chunk) // 2]

    def free(self) -> None:
        self._ballast.unlink(missing_ok=True)

    def close(self) -> None:
        if self.is_fillable:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)
