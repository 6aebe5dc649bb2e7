"""Fixtures that all tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# Machines are noisy: how long an example takes decides nothing, and the same examples run everywhere.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")

os.environ["HANDFUL_VECTORS"] = ""  # no encoder is at hand, whatever this machine has

os.environ["HANDFUL_CACHE"] = ""  # nor are embeddings kept

# Modules that tests import; not tests, and not to be imported a second time in search of doctests.
collect_ignore = [
    "cli_kills.py",
    "core_models.py",
    "core_fuzz.py",
    "fakes_race.py",
    "tiny_encoder.py",
    "manual_files.py",
    "studio_browser.py",
    "studio_pictures.py",
]


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
