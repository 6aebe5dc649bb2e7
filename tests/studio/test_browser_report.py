"""Reports in a real browser, on a screen as narrow as that of a phone."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.datasets import load_iris

import handful
from handful.comparison.trials import Limits

pytestmark = pytest.mark.browser

_MARKS_AND_NAMES = """() => [...document.querySelectorAll(".bar")].filter(bar => bar.querySelector(".mark")).map(bar => [
    bar.querySelector(".mark").getBoundingClientRect().top, bar.querySelector(".name").getBoundingClientRect().bottom])"""


def test_the_line_of_the_baseline_crosses_no_name(chromium: Any) -> None:
    X, y = load_iris(return_X_y=True)
    report = handful.compare(X, y, labels=15, methods=["k-nn"], limits=Limits(splits=2)).to_html()
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.set_content(report)
    places = page.evaluate(_MARKS_AND_NAMES)
    page.close()
    assert len(places) > 3
    assert all(top >= bottom for top, bottom in places)
