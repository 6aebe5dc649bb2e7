"""The habits of the house, checked: layers, public names, what the README shows."""

from __future__ import annotations

import ast
import importlib.util
import re
import shutil
import subprocess
import sys
import tomllib
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


def test_the_readme_example_runs(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert blocks
    for block in blocks:
        done = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False)
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


@pytest.fixture(scope="module")
def house():
    specification = importlib.util.spec_from_file_location("house", ROOT / "benchmarks" / "house.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def function(text):
    return ast.parse(text).body[0]


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("def f(): pass", 1),
        ("def f(a):\n if a: pass\n elif a > 1: pass\n else: pass", 3),
        ("def f(a, b): return a and b or not a", 3),
        ("def f(a): return [x for x in a if x if x > 1]", 4),
        ("def f(a):\n while a:\n  try: pass\n  except ValueError: pass", 3),
        ("def f(a):\n match a:\n  case 1: pass\n  case _: pass", 2),
        ("def f(a):\n def g():\n  if a: pass\n return g", 1),
    ],
)
def test_ways_through_a_function_are_counted(house, text, ways):
    assert house.complexity(function(text)) == ways


def test_parameters_are_counted_without_self(house):
    assert house.n_parameters(function("def f(self, a, /, b, *c, d=1, **e): pass")) == 5


def test_importers_are_counted_once_per_module(house, tmp_path):
    package = tmp_path / "handful"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text("x = 1\n")
    (package / "b.py").write_text("from handful.a import x\nfrom handful import a\n")
    (package / "c.py").write_text("def f():\n    from .a import x\n    import handful.b\n    return x\n")
    trees = {path: ast.parse(path.read_text()) for path in package.glob("*.py")}
    importers = house.count_importers(package, trees)
    assert importers[package / "a.py"] == {"handful.b", "handful.c"}
    assert importers[package / "b.py"] == {"handful.c"}
    assert importers[package / "c.py"] == set()


def test_every_room_is_an_attribute_of_the_package():
    rooms = sorted(path.parent.name for path in (ROOT / "src" / "handful").glob("*/__init__.py"))
    rooms.remove("cli")
    code = f"import handful\nfor room in {rooms}:\n    assert getattr(handful, room).__name__ == 'handful.' + room"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_lazy_names_are_there_and_cost_nothing_before_their_use():
    code = (
        "import sys, handful, handful.neighbors, handful.tagging, handful.senses, handful.evaluation\n"
        "assert not {'numba', 'sklearn', 'polars', 'scipy'} & set(sys.modules), 'heavy'\n"
        "for room in (handful.neighbors, handful.tagging, handful.senses, handful.evaluation, handful.representations):\n"
        "    for name in room.__all__: assert getattr(room, name).__name__ == name\n"
        "for name in set(handful.__all__) - {'__version__'}: assert getattr(handful, name).__name__ == name\n"
        "names = {'compare', 'fit', 'next_rows', 'label_budget', 'doubtful_labels', 'merge_labels'}\n"
        "assert names <= set(dir(handful))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_verb_of_the_makefile_has_a_rule():
    text = (ROOT / "Makefile").read_text()
    verbs = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE).group(1).split()
    assert [verb for verb in verbs if not re.search(rf"^{re.escape(verb)}:", text, re.MULTILINE)] == []
    told = re.findall(r"`(?:\w+=\S+ )?make ([\w-]+)", (ROOT / "CONTRIBUTING.md").read_text())
    assert set(told) <= set(verbs)


def test_what_the_source_distribution_lists_is_there():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["sdist"][
        "include"
    ]
    assert [entry for entry in listed if not list(ROOT.glob(entry.lstrip("/")))] == []
