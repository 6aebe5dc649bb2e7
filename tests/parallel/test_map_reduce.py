from __future__ import annotations

import os
import time

import pytest

from handful.errors import FormatError, ParameterError, PartError
from handful.parallel import map_reduce


def slow_first(part: int) -> str:
    time.sleep(0.2 if part == 0 else 0.0)
    return str(part)


def join(a: str, b: str) -> str:
    return a + b


def fails_on_three(part: int) -> str:
    if part == 3:
        raise FormatError("shard.txt", 7, "expected a token, got nothing")
    return str(part)


def dies(part: int) -> str:
    os._exit(1)


@pytest.mark.parametrize("n_jobs", [None, 1, 2])
def test_summaries_are_merged_in_the_order_of_the_parts(n_jobs):
    assert map_reduce(slow_first, join, range(30), n_jobs=n_jobs) == "".join(map(str, range(30)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_our_own_errors_come_back_as_they_are(n_jobs):
    with pytest.raises(FormatError, match=r"^shard.txt:7: expected a token"):
        map_reduce(fails_on_three, join, range(10), n_jobs=n_jobs)


def test_a_dying_worker_is_told():
    with pytest.raises(PartError, match="failed: a worker process died"):
        map_reduce(dies, join, range(3), n_jobs=2)
    assert map_reduce(slow_first, join, range(3), n_jobs=2) == "012"


def test_functions_without_a_module_work_in_workers():
    assert map_reduce(lambda part: [part * 2], lambda a, b: a + b, iter(range(5)), n_jobs=2) == [0, 2, 4, 6, 8]


@pytest.mark.parametrize(("parts", "total"), [([1, 2], 2), (iter([1, 2]), None)])
def test_progress_is_told_after_each_part(parts, total):
    steps = []
    map_reduce(str, join, parts, progress=steps.append)
    assert [(s.done, s.total) for s in steps] == [(1, total), (2, total)]


def test_parts_are_read_lazily():
    taken = []

    def parts():
        for i in range(100):
            taken.append(i)
            yield i

    def stop(part: int) -> str:
        if part == 5:
            raise ValueError("enough")
        return ""

    with pytest.raises(PartError, match="ValueError: enough"):
        map_reduce(stop, join, parts())
    assert len(taken) == 6


def test_no_parts_and_no_jobs_are_refused():
    with pytest.raises(ParameterError, match="at least one part"):
        map_reduce(str, join, [])
    for n_jobs in (0, 1.5, "2"):
        with pytest.raises(ParameterError, match="n_jobs must be an integer of at least 1, -1 or None"):
            map_reduce(str, join, [1], n_jobs=n_jobs)


class TwoArgumentsError(Exception):
    def __init__(self, a: str, b: str) -> None:
        super().__init__(a)


def fails_oddly(part: int) -> str:
    raise TwoArgumentsError("odd\nnews", "b")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_that_cannot_be_pickled_still_tells_its_reason_in_one_line(n_jobs):
    with pytest.raises(PartError, match=r"part 0 \(7\) failed: TwoArgumentsError: odd news$"):
        map_reduce(fails_oddly, join, [7], n_jobs=n_jobs)
