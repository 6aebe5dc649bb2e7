"""Modules that are imported only when something in them is asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest


def told(code: str) -> str:
    """Run code in a new process, since what is imported here is imported; return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    "use",
    [
        "import xml.etree; print(xml.etree.__name__)",
        "from xml import etree; print(etree.__name__)",
        "import xml.etree.ElementTree as tree; print(tree.__name__[:9])",
    ],
)
def test_a_package_that_was_put_off_is_imported_however_it_is_asked_for(use: str) -> None:
    assert told(f"from handful.cli.later import put_off; put_off('xml'); {use}") == "xml.etree"


def test_a_module_inside_that_asks_for_its_package_runs_once() -> None:
    use = (
        "import scipy.stats.mstats as m, scipy.stats; print(m is scipy.stats.mstats, float(scipy.stats.norm.cdf(0.0)))"
    )
    assert told(f"from handful.cli.later import put_off; put_off('scipy.stats'); {use}") == "True 0.5"


def test_commands_on_text_import_neither_statistics_nor_pandas() -> None:
    use = (
        "import sys; from handful.cli import main\n"
        "try: main(['fit', 'tagger', '--help'])\n"
        "except SystemExit: pass\n"
        "import sklearn.base; print('FINALLY', *(name in sys.modules for name in ('scipy.stats._stats_py', 'pandas.core')))"
    )
    assert told(use).rpartition("FINALLY ")[2] == "False False"


def test_what_is_imported_already_stays() -> None:
    use = (
        "import wave; from handful.cli.later import put_off; put_off('wave'); import wave; print('open' in vars(wave))"
    )
    assert told(use) == "True"


def test_a_module_that_is_not_installed_stays_so() -> None:
    use = "try: import no_such_module\nexcept ImportError: print('not installed')"
    assert told(f"from handful.cli.later import put_off; put_off('no_such_module')\n{use}") == "not installed"


def test_classifiers_of_scikit_learn_need_no_compiler():
    program = "import sys, handful.models.adapters, handful.models.classifiers; print('numba' in sys.modules)"
    assert told(program) == "False"
