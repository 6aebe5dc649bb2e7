"""Files that several modules of tests run commands on."""

from __future__ import annotations

import pytest
from cli_kills import make_data


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    return make_data(tmp_path_factory.mktemp("commands"))
