"""The release: versions agree, and the wheel holds all that is needed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import handful

ROOT = Path(__file__).parents[1]


def test_versions_agree():
    assert f"version: {handful.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f'{{% set version = "{handful.__version__}" %}}' in (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
    assert f"## [{handful.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_conda_recipe_needs_what_the_package_needs():
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
    for line in needed:
        name, _, least = line.partition(">=")
        assert f"- {name} >={least}" in recipe


def test_a_wheel_holds_all_that_is_read_at_run_time(tmp_path):
    """Built without a network: the build backend is at hand, and nothing is installed."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    # Every module and data file must come out of the wheel, not out of the source tree.
    place = tmp_path / "unpacked"
    zipfile.ZipFile(wheel).extractall(place)
    script = (
        f"import sys; sys.path.insert(0, {str(place)!r}); import handful; assert {str(place)!r} in handful.__file__; "
        "from importlib.resources import files; root = files('handful'); "
        "names = ['corpora/catalog.toml', 'reports/templates/page.html', 'studio/templates/table.html', "
        "'studio/static/table.js', 'papers/liu2013/paper.toml', 'py.typed', 'neighbors/__init__.pyi']; "
        "missing = [n for n in names if not root.joinpath(n).is_file()]; assert not missing, missing"
    )
    used = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert used.returncode == 0, used.stderr
