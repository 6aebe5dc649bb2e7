"""The release: versions agree, and what is built can be installed and holds all that is needed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import handful

ROOT = Path(__file__).parents[1]


def test_versions_agree():
    assert f"version: {handful.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f'{{% set version = "{handful.__version__}" %}}' in (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
    assert f"## [{handful.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_lowest_versions_are_those_that_are_tried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = (ROOT / "constraints-lowest.txt").read_text().splitlines()
    tried = dict(line.split("==") for line in lines if not line.startswith("#"))
    extras = (line for name in ("dask", "plots", "studio", "excel") for line in project["optional-dependencies"][name])
    for line in [*project["dependencies"], *extras]:
        name, least = line.split(">=")
        assert f"{tried[name]}.0.0".startswith(f"{least}."), f"constraints-lowest.txt must name {line}"


def test_the_conda_recipe_needs_what_the_package_needs():
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    recipe = (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
    for line in needed:
        name, _, least = line.partition(">=")
        assert f"- {name} >={least}" in recipe


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_workflows_use_pinned_actions_and_verbs_that_there_are(path):
    text = path.read_text()
    used = re.findall(r"uses: (\S+)(.*)", text)
    assert used
    for action, version in used:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), action
        assert re.fullmatch(r" # v\d+\.\d+\.\d+", version), action
    verbs = re.findall(r"^(\w[\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"run: make (\S+)", text)) <= set(verbs)


def build(kind, source, folder):
    """Build without a network: the build backend is at hand."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    done = subprocess.run(command, cwd=source, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return made


def test_an_installed_wheel_holds_all_that_is_read_at_run_time(tmp_path):
    wheel = build("wheel", ROOT, tmp_path)
    # What it needs is at hand; the package itself must come out of the wheel, not out of the source tree.
    place = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--no-compile"]
    subprocess.run([*install, "--target", str(place), str(wheel)], check=True, capture_output=True)
    script = (
        f"import handful; assert handful.__file__.startswith({str(place)!r}); "
        "from importlib.resources import files; root = files('handful'); "
        "names = ['data/samples/ads.json.gz', 'report/templates/page.html', 'studio/templates/table.html', "
        "'studio/static/table.js', 'py.typed', 'neighbors/__init__.pyi']; "
        "missing = [n for n in names if not root.joinpath(n).is_file()]; assert not missing, missing"
    )
    environment = {**os.environ, "PYTHONPATH": str(place)}
    for command in ([sys.executable, "-c", script], [sys.executable, place / "bin" / "handful", "--version"]):
        used = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert used.returncode == 0, used.stderr
    assert used.stdout.strip() == f"handful, version {handful.__version__}"


def test_a_wheel_can_be_built_from_the_source_archive(tmp_path):
    archive = build("sdist", ROOT, tmp_path)
    with tarfile.open(archive) as file:
        file.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    for name in ("Makefile", "constraints.txt", "constraints-lowest.txt", "docs/conf.py", "tests/test_release.py"):
        assert (source / name).is_file(), name
    again, plain = tmp_path / "again", tmp_path / "plain"
    one, two = build("wheel", source, again), build("wheel", ROOT, plain)
    assert set(zipfile.ZipFile(one).namelist()) == set(zipfile.ZipFile(two).namelist())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_can_complete_commands(shell):
    environment = {**os.environ, "_HANDFUL_COMPLETE": f"{shell}_source"}
    command = [sys.executable, "-c", "import sys; sys.argv[0] = 'handful'; from handful.cli import main; main()"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "_HANDFUL_COMPLETE" in done.stdout
