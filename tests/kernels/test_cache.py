from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from threading import Condition

import pytest

from handful import kernels
from handful.kernels import cache, distances

KERNELS = Path(kernels.__file__)
BESIDE = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}  # files go beside the source
PROGRAM = "from kernels.caller import twice; print(twice(3))"


def test_a_change_in_a_called_kernel_is_noticed(tmp_path):
    package = tmp_path / "kernels"
    package.mkdir()
    for source in (KERNELS, Path(cache.__file__)):
        (package / source.name).write_text(source.read_text())
    (package / "caller.py").write_text(
        "from kernels import njit\nfrom kernels.callee import one\n\n\n@njit(cache=True)\ndef twice(x):\n    return 2 * one(x)\n"
    )
    callee = "from kernels import njit\n\n\n@njit(cache=True)\ndef one(x):\n    return x + {}\n"

    def run(offset: int) -> str:
        (package / "callee.py").write_text(callee.format(offset))
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=True, env=BESIDE
        )
        return done.stdout.strip()

    assert run(1) == "8"
    compiled = set((package / "__pycache__").glob("*.nbc"))
    assert compiled
    assert run(1) == "8"
    assert set((package / "__pycache__").glob("*.nbc")) == compiled
    assert run(5) == "16"


class Turns:
    """Lets two writers take their steps in a given order."""

    def __init__(self, order):
        self.order, self.now, self.changed = order, 0, Condition()

    def take(self, writer, step):
        with self.changed:
            assert self.changed.wait_for(lambda: self.order[self.now] == writer, timeout=10)
            done = step()
            self.now += 1
            self.changed.notify_all()
            return done


def code(name):
    return (("library", "object", (f"code {name}".encode(), b"bitcode")),)


def writer(folder, name, turns):
    files = cache.KernelFile(str(folder), "kernel", "stamp")
    for method in ("_load_index", "_save_index", "_save_data"):
        plain = getattr(files, method)
        setattr(files, method, lambda *a, _plain=plain: turns.take(name, lambda: _plain(*a)))
    return files


@pytest.mark.parametrize("first", list(combinations(range(6), 3)))
def test_two_processes_that_save_at_once_never_mix_their_code(tmp_path, first):
    turns = Turns(["a" if place in first else "b" for place in range(6)] + ["end"])
    with ThreadPoolExecutor(2) as pool:
        saved = [pool.submit(writer(tmp_path, name, turns).save, ("signature", name), code(name)) for name in "ab"]
        assert [future.result(timeout=20) for future in saved] == [None, None]
    reader = cache.KernelFile(str(tmp_path), "kernel", "stamp")
    found = {name: reader.load(("signature", name)) for name in "ab"}
    assert found["a"] in (None, code("a"))
    assert found["b"] in (None, code("b"))
    assert set(found.values()) != {None}


def test_compiled_kernels_use_the_safe_files():
    assert isinstance(distances.bound_of._cache._cache_file, cache.KernelFile)


def test_what_kernels_call_is_compiled_once_for_all_integers_and_without_files(tmp_path):
    package = tmp_path / "kernels"
    package.mkdir()
    for source in (KERNELS, Path(cache.__file__)):
        (package / source.name).write_text(source.read_text())
    (package / "caller.py").write_text(
        "import numpy as np\nfrom kernels import njit\n\n\n"
        "@njit(cache=True)\ndef add(x, y):\n    return x + y\n\n\n"
        "@njit(cache=True)\ndef both(x):\n    return add(x, 1) + add(np.int32(x), 2) + add(x, x)\n"
    )
    program = (
        "from numba.core import event\nfrom kernels.caller import add, both\n"
        "with event.install_recorder('numba:compile') as seen:\n    print(both(3), add(3, 4))\n"
        "print(sorted(e.data['dispatcher'].py_func.__name__ for _, e in seen.buffer if e.is_start))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True, env=BESIDE
    )
    assert done.stdout.splitlines() == ["15 7", "['add', 'add', 'both']"]  # add for both, and add for Python
    assert len(list((package / "__pycache__").glob("*.nbc"))) == 2
    again = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True, env=BESIDE
    )
    assert again.stdout.splitlines() == ["15 7", "[]"]


def test_compiling_is_announced_once(tmp_path):
    program = (
        "import logging; logging.basicConfig(level='INFO', format='%(name)s: %(message)s')\nfrom handful.kernels import njit\n"
        "twice = njit()(lambda x: 2 * x)\nprint(twice(2), twice(2.5))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "4 5.0\n"
    assert done.stderr == "handful.kernels: compiling what is used for the first time\n"


def test_where_nothing_can_be_kept_kernels_are_compiled_anew_and_it_is_said_once():
    program = (
        "import numba.core.caching as caching\n"
        "def refuse(_): raise PermissionError('read-only')\n"
        "caching._CacheLocator.ensure_cache_path = refuse\n"  # as a user without a home meets it, in a read-only system
        "import numpy as np\nfrom handful.kernels.distances import bound_of\nprint(bound_of.stats.cache_path)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "None\n"), done.stderr
    assert done.stderr.startswith("compiled kernels cannot be kept (no folder can be written)")
    assert done.stderr.count("\n") == 1


def test_no_kernel_asks_numba_itself_to_compile():
    assert [p.name for p in KERNELS.parent.glob("*.py") if p != KERNELS and "numba import njit" in p.read_text()] == []


def test_an_untested_numba_is_used_as_it_is(tmp_path):
    program = (
        "import numba\n"
        "numba.version_info = numba.version_info._replace(short=(99, 0))\n"
        "from handful.kernels import njit\nfrom handful.kernels.distances import bound_of\n"
        "print(round(bound_of(2.0), 6), bound_of._cache._cache_file.__class__.__name__)"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout) == (0, "4.0 IndexDataCacheFile\n"), done.stderr
