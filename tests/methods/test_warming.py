"""Warming up uses every room, in processes of its own."""

from __future__ import annotations

import json

import pytest

from handful.cli import main
from handful.models import warming
from handful.models.warming import ROOMS, use_room


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_can_be_used_on_next_to_nothing(room):
    use_room(room)


def test_the_command_tells_what_is_compiled(capsys, monkeypatch):
    some = sorted(ROOMS)[:2]
    monkeypatch.setattr(warming, "ROOMS", {name: ROOMS[name] for name in some})
    with pytest.raises(SystemExit) as done:
        main(["warmup", "--json", "--jobs", "2"])
    assert done.value.code == 0
    assert set(json.loads(capsys.readouterr().out)["compiled"]) == set(some)
