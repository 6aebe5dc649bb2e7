"""Warming up compiles every package, in worker processes."""

from __future__ import annotations

import json

import pytest

from handful.cli import main
from handful.models import warming
from handful.models.warming import KERNELS, use_kernels


@pytest.mark.parametrize("package", KERNELS)
def test_each_package_compiles_on_a_few_rows(package):
    use_kernels(package)


def test_the_command_tells_what_is_compiled(capsys, monkeypatch):
    some = sorted(KERNELS)[:2]
    monkeypatch.setattr(warming, "KERNELS", {name: KERNELS[name] for name in some})
    with pytest.raises(SystemExit) as done:
        main(["warmup", "--json", "--jobs", "2"])
    assert done.value.code == 0
    assert set(json.loads(capsys.readouterr().out)["compiled"]) == set(some)
