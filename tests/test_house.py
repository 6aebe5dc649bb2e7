"""The habits of the house, checked: layers, public names, what the README shows."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": str(root / "src"), "PATH": "", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()", "--no-cache"]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def copy_of_house(tmp_path):
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def test_layers_hold(copy_of_house):
    done = lint_imports(copy_of_house)
    assert done.returncode == 0, done.stdout
    assert "1 kept, 0 broken" in done.stdout


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("core/ragged.py", "from handful.corpora import formats"),
        ("kernels/__init__.py", "from handful.core import ragged"),
    ],
)
def test_layers_fail_on_an_import_upward_or_sideways(copy_of_house, room, line):
    module = copy_of_house / "src" / "handful" / room
    module.write_text(f"{module.read_text()}\n{line}\n")
    done = lint_imports(copy_of_house)
    assert done.returncode == 1
    assert "0 kept, 1 broken" in done.stdout


def test_only_kernels_import_numba():
    outside = [
        path
        for path in (ROOT / "src" / "handful").rglob("*.py")
        if "kernels" not in path.parts and re.search(r"^\s*(import|from) numba\b", path.read_text(), re.MULTILINE)
    ]
    assert outside == []


def test_the_readme_example_runs():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_the_examples_of_condensing_run(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "howto-condensing.md").read_text(), re.DOTALL)
    assert len(blocks) == 4
    command = [sys.executable, "-W", "error", "-c", "\n".join(blocks)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_oracles_do_not_import_handful():
    importing = [
        path.name
        for path in (ROOT / "tests" / "oracles").glob("*.py")
        if re.search(r"^\s*(import|from) handful\b", path.read_text(), re.MULTILINE)
    ]
    assert importing == []
