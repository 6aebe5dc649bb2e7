"""Fixtures that all tests share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from handful.models.ensemble import Ensemble

# Time limits depend on the machine; the same examples run everywhere.
settings.register_profile("fixed", deadline=None, derandomize=True)
settings.load_profile("fixed")

os.environ["HANDFUL_VECTORS"] = ""  # no encoder, even if this machine has one
os.environ["HANDFUL_CACHE"] = ""  # no cache of embeddings
os.environ["LOKY_MAX_CPU_COUNT"] = "1"  # one process where no test asks for more

# Modules that tests import; not tests, and not to be imported a second time in search of doctests.
collect_ignore = [
    "cli_kills.py",
    "tiny_model.py",
    "quick_start.py",
    "tiny_encoder.py",
    "manual_files.py",
    "studio_browser.py",
    "studio_pictures.py",
]


@pytest.fixture(autouse=True)
def small_ensembles(request, monkeypatch):
    """Fit ensembles of a few trees: most tests ask what is done with a model, not how good it is."""
    if "test_ensemble" not in request.node.nodeid:
        monkeypatch.setitem(Ensemble.__init__.__kwdefaults__, "n_trees", 10)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of corpora, or skip the test where there is none."""
    folder = os.environ.get("HANDFUL_DATA")
    if not folder:
        pytest.skip("HANDFUL_DATA is not set")
    return Path(folder)


@pytest.fixture(scope="session")
def development_data() -> Path:
    """Return the folder of tables and texts that people have, or skip the test where there is none."""
    folder = os.environ.get("HANDFUL_DEVDATA")
    if not folder:
        pytest.skip("HANDFUL_DEVDATA is not set")
    return Path(folder)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Start the browser of the system: one for all tests, for a process can have only one playwright."""
    sync_api = pytest.importorskip("playwright.sync_api")
    where = shutil.which("chromium")
    if where is None:
        pytest.skip("needs Chromium; install it with: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=where, args=["--no-sandbox"])
        yield browser
        browser.close()
