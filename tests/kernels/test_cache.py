from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from handful import kernels

KERNELS = Path(kernels.__file__)
PROGRAM = "from kernels.caller import twice; print(twice(3))"


def test_a_change_in_a_called_kernel_is_noticed(tmp_path):
    package = tmp_path / "kernels"
    package.mkdir()
    (package / "__init__.py").write_text(KERNELS.read_text())
    (package / "caller.py").write_text(
        "from numba import njit\nfrom kernels.callee import one\n\n\n@njit(cache=True)\ndef twice(x):\n    return 2 * one(x)\n"
    )
    callee = "from numba import njit\n\n\n@njit(cache=True)\ndef one(x):\n    return x + {}\n"

    def run(offset: int) -> str:
        (package / "callee.py").write_text(callee.format(offset))
        done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    assert run(1) == "8"
    compiled = set((package / "__pycache__").glob("*.nbc"))
    assert compiled
    assert run(1) == "8"
    assert set((package / "__pycache__").glob("*.nbc")) == compiled
    assert run(5) == "16"
