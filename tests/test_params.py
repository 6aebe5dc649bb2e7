from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
import pytest

from handful.errors import ParameterError
from handful.params import AtLeast, Count, Positive, Range, Share, admits, check_params, describe


class Model:
    def __init__(
        self,
        n: Annotated[int, AtLeast(1)] | Literal["cv"] = 1,
        share: Share = 0.5,
        vote: Literal["uniform", "rank"] = "uniform",
        flag: bool = False,
        limit: Count | None = None,
        extra: Any = None,
    ) -> None:
        self.n, self.share, self.vote, self.flag, self.limit, self.extra = n, share, vote, flag, limit, extra


@pytest.mark.parametrize(
    "legal",
    [
        {"n": "cv"},
        {"n": np.int64(3)},
        {"share": 0},
        {"share": np.float32(1)},
        {"flag": True},
        {"limit": 4},
        {"extra": object()},
    ],
)
def test_legal_values_pass(legal):
    model = Model(**legal)
    check_params(model)
    assert all(getattr(model, name) is value for name, value in legal.items())


@pytest.mark.parametrize(
    ("illegal", "sentence"),
    [
        ({"n": 0}, "Model: n must be an integer of at least 1 or 'cv', got 0."),
        ({"n": True}, "got True."),
        ({"n": 1.5}, "got 1.5."),
        ({"share": 1.01}, "Model: share must be a number between 0 and 1, got 1.01."),
        ({"share": float("nan")}, "got nan."),
        ({"share": "0.5"}, "got '0.5'."),
        ({"vote": "ranks"}, "Model: vote must be 'uniform' or 'rank', got 'ranks'. Did you mean 'rank'?"),
        ({"vote": ["rank"]}, "got ['rank']."),
        ({"flag": 1}, "Model: flag must be True or False, got 1."),
        ({"limit": 0}, "Model: limit must be an integer of at least 1 or None, got 0."),
        ({"vote": "x" * 500}, "xxx..."),
    ],
)
def test_illegal_values_have_the_house_form(illegal, sentence):
    with pytest.raises(ParameterError) as caught:
        check_params(Model(**illegal))
    assert sentence in str(caught.value)
    assert len(str(caught.value)) < 200


def test_bounds_in_words():
    assert describe(Positive) == "a number above 0"
    assert describe(Annotated[float, Range(0, 1, open_high=True)]) == "a number of at least 0 and below 1"
    assert describe(Callable[[int], int] | None) == "a function or None"
    assert describe(dict[str, list[str]]) == "a dict"


def test_containers_and_functions():
    assert admits(dict[str, int], {})
    assert not admits(dict[str, int], [])
    assert admits(Callable[[int], int], len)
    assert not admits(Callable[[int], int], 3)
    assert admits(np.random.RandomState | int | None, np.random.RandomState(0))
