from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from cli_run import run

from handful.cli import COMMANDS, OLD_COMMANDS, group
from handful.errors import DataError, FormatError, ParameterError
from handful.version import __version__


def test_help_and_version_end_well(capsys):
    code, out, _ = run(capsys, "--help")
    assert code == 0
    assert all(name in out for name in COMMANDS)
    assert run(capsys, "--version")[:2] == (0, f"handful, version {__version__}\n")


def test_the_package_runs_as_a_module():
    command = [sys.executable, "-m", "handful", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"handful, version {__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(capsys, name):
    code, out, err = run(capsys, name, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"Usage: handful {name}")


def test_wrong_use_ends_with_two(capsys):
    code, _, _err = run(capsys, "dmeo")
    assert code == 2
    assert run(capsys, "methods", "--no-such-option")[0] == 2
    assert run(capsys, "fit")[0] in (0, 2)  # shows its help, and click has changed its mind about the code


@pytest.mark.parametrize(
    ("words", "subject"),
    [
        (["fit", "a.csv"], "--target"),
        (["inspect"], "MODEL"),
        (["dmeo"], "dmeo"),
        (["fit", "taggr", "train.tsv"], "taggr"),
        (["fit", "klassifier", "good.csv", "--target", "label"], "klassifier"),
        (["fit", "a.csv", "--target", "y", "--set", "x"], "--set"),
        (["fit", "a.csv", "--target", "y", "--columns", "a"], "--columns"),
        (["fit", "a.csv", "--target", "y", "--class-priors", "a"], "--class-priors"),
        (["predict", "m.handful", "a.csv", "--abstain", "80%"], "--abstain"),
        (["next", "a.csv", "--targte", "y"], "--targte"),
    ],
)
def test_wrong_use_is_one_line_that_begins_with_its_subject(capsys, words, subject):
    code, out, err = run(capsys, *words, force=False)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"handful: {subject}: ")
    assert " See 'handful " in err


@pytest.mark.parametrize(("old", "new"), OLD_COMMANDS.items())
def test_former_names_of_commands_work_and_are_hidden(capsys, old, new):
    assert run(capsys, old, "--help")[1].startswith(f"Usage: handful {new}")
    assert f"  {old} " not in run(capsys, "--help")[1]


def test_former_names_of_options_work(capsys, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("x,y\n" + "1,a\n2,b\n" * 10)
    code, _, err = run(capsys, "fit", rows, "--target", "y", "--method", "k-nn", "--model", tmp_path / "m.handful")
    assert (code, (tmp_path / "m.handful").exists()) == (0, True), err
    assert run(capsys, "inspect", tmp_path / "m.handful", "--top=2")[0] == 0


def test_quiet_and_verbose(capsys, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("x,y\n" + "1,a\n2,b\n" * 10)
    fit = ("fit", rows, "--target", "y", "--method", "k-nn")
    assert run(capsys, *fit, "-q")[2] == ""
    usual, details = run(capsys, *fit), run(capsys, *fit, "-v")
    assert usual[1].count("\n") <= 12
    assert len(details[1] + details[2]) > len(usual[1] + usual[2])
    assert usual[1].rstrip().splitlines()[-2].startswith("Next:  handful predict ")


def test_closed_streams_end_without_a_traceback():
    command = f"{sys.executable} -m handful methods"
    for closed in (">&-", "2>&-", ">&- 2>&-", "<&-"):
        done = subprocess.run(f"{command} {closed}", shell=True, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (FormatError("a.tsv", 2, "expected\n2 columns"), 1, "handful: a.tsv:2: expected 2 columns\n"),
        (ParameterError("compare: no such method."), 2, "handful: no such method.\n"),
        (DataError("suggest: no row is left."), 1, "handful: no row is left.\n"),
        (DataError("TableModel: must be fitted."), 1, "handful: must be fitted.\n"),
        (DataError("CSV: no such thing."), 1, "handful: CSV: no such thing.\n"),
        (MemoryError(), 1, None),
        (ImportError("no libx", name="x"), 1, None),
        (KeyboardInterrupt(), 130, "\nhandful: interrupted.\n"),
        (RuntimeError("odd"), 1, "handful: unexpected RuntimeError: odd (run again with --debug for the traceback)\n"),
    ],
)
def test_failures_are_one_line_and_a_traceback_only_on_demand(capsys, monkeypatch, error, code, line):
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(group, "invoke", fail)
    found, out, err = run(capsys, "methods")
    assert (found, out) == (code, "")
    assert err == line if line else (err.startswith("handful: ") and err.count("\n") == 1 and "unexpected" not in err)
    debugged = run(capsys, "methods", "--debug")
    assert debugged[0] == code
    assert "Traceback" in debugged[2]


def test_a_file_whose_name_looks_like_one_of_python_is_named(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "inspect", "my_model")
    assert code == 1
    assert err.startswith("handful: my_model: ")


def test_methods_as_json(capsys):
    code, out, _ = run(capsys, "methods", "--json")
    rows = json.loads(out)
    assert code == 0
    assert all({"name", "class", "task", "uses_unlabeled", "paper", "summary"} <= row.keys() for row in rows)


def test_a_pipe_gets_whole_names_in_any_encoding():
    environment = os.environ | {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "COLUMNS": "40"}
    command = [sys.executable, "-m", "handful", "methods"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "semi-supervised-condensed-nn" in done.stdout


def test_debug_after_two_dashes_is_an_argument(capsys):
    code, _, _err = run(capsys, "methods", "--", "--debug")
    assert code == 2


def test_nothing_heavy_is_imported_at_the_start():
    script = "import sys, handful; a = set(sys.modules); import handful.cli; b = set(sys.modules); print(a, '|', b)"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    package, command_line = out.split("|")
    for heavy in ("numpy", "scipy", "sklearn", "numba", "polars", "rich", "pooch"):
        assert f"'{heavy}'" not in package
        assert f"'{heavy}'" not in command_line
