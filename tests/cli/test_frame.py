from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from handful import __version__
from handful.cli import COMMANDS, group, main
from handful.core.errors import DataError, FormatError, ParameterError


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as done:
        main(arguments)
    out, err = capsys.readouterr()
    return done.value.code, out, err


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
    code, _, err = run(capsys, "dmeo")
    assert code == 2
    assert "There is no command 'dmeo'. Did you mean 'demo'?" in err
    assert run(capsys, "methods", "--no-such-option")[0] == 2
    assert run(capsys, "fit")[0] in (0, 2)  # shows its help, and click has changed its mind about the code


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["fit", "a.csv"], "handful: Missing option '--target'. See 'handful fit table --help'.\n"),
        (["inspect"], "handful: Missing argument 'MODEL'. See 'handful inspect --help'.\n"),
        (["dmeo"], "handful: There is no command 'dmeo'. Did you mean 'demo'? See 'handful --help'.\n"),
        (
            ["fit", "taggr", "train.tsv"],
            "handful: There is no kind of model and no file 'taggr'. Did you mean 'tagger'? See 'handful fit --help'.\n",
        ),
        (
            ["fit", "klassifier", "good.csv", "--target", "label"],
            "handful: There is no kind of model and no file 'klassifier'. Kinds are table, prototypes, senses, tagger, parser. "
            "See 'handful fit --help'.\n",
        ),
        (
            ["fit", "a.csv", "--target", "y", "--set", "x"],
            "handful: --set expects name=value, got 'x'. See 'handful fit table --help'.\n",
        ),
    ],
)
def test_wrong_use_is_told_in_one_line(capsys, words, line):
    assert run(capsys, *words) == (2, "", line)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (FormatError("a.tsv", 2, "expected\n2 columns"), 1, "handful: a.tsv:2: expected 2 columns\n"),
        (ParameterError("compare: no such method."), 2, "handful: compare: no such method.\n"),
        (DataError("next_rows: no row is left."), 1, "handful: no row is left.\n"),
        (DataError("TableModel: must be fitted."), 1, "handful: must be fitted.\n"),
        (DataError("CSV: no such thing."), 1, "handful: CSV: no such thing.\n"),
        (KeyboardInterrupt(), 130, "\nhandful: interrupted.\n"),
        (RuntimeError("odd"), 1, "handful: unexpected RuntimeError: odd (run again with --debug for the traceback)\n"),
    ],
)
def test_failures_are_one_line_and_a_traceback_only_on_demand(capsys, monkeypatch, error, code, line):
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(group, "invoke", fail)
    assert run(capsys, "methods") == (code, "", line)
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
    assert all({"name", "class", "takes", "paper", "summary"} <= row.keys() for row in rows)


def test_a_pipe_gets_whole_names_in_any_encoding():
    environment = os.environ | {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "COLUMNS": "40"}
    command = [sys.executable, "-m", "handful.cli", "methods"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "semi-supervised-condensed-nn" in done.stdout


def test_debug_after_two_dashes_is_an_argument(capsys):
    code, _, err = run(capsys, "methods", "--", "--debug")
    assert code == 2
    assert "unexpected extra argument (--debug)" in err


def test_nothing_heavy_is_imported_at_the_start():
    script = "import sys, handful; a = set(sys.modules); import handful.cli; b = set(sys.modules); print(a, '|', b)"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    package, command_line = out.split("|")
    for heavy in ("numpy", "scipy", "sklearn", "numba", "polars", "rich", "pooch"):
        assert f"'{heavy}'" not in package
        assert f"'{heavy}'" not in command_line
