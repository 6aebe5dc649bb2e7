from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from rich.console import Console

from handful.report.content import Confusion, Curve, Difference, MethodScore, Report
from handful.report.html import render_fragment, render_html
from handful.report.terminal import render_terminal

VOID = {"meta", "link", "br", "line", "circle", "rect", "polyline"}


def line(name: str, mean: float, **changes) -> MethodScore:
    usual = MethodScore(
        method=name,
        scores=dict.fromkeys(range(5), mean),
        mean=mean,
        low=mean - 0.1,
        high=mean + 0.05,
        p_best=0.3,
        n_bytes=12_345,
        fit_seconds=0.01,
        predict_seconds=0.02,
        params={"k": 1},
    )
    return replace(usual, **changes)


def both(mean: float, low: float, high: float) -> dict[str, object]:
    difference = Difference("k-nn", mean, low, high, 0.01, 5)
    return {"difference": difference, "gain": difference, "uses_unlabeled": True, "p_value": 0.01}


@pytest.fixture
def report() -> Report:
    nasty = "<script>alert(1)</script>|&"
    return Report(
        title=f"data {nasty}",
        metric="accuracy",
        state="finished",
        selected="ordinal-knn",
        selection="Selected: ordinal-knn, 90.0% accuracy.",
        unlabeled="Unlabeled rows: significant benefit.",
        unlabeled_help=True,
        warnings=("Unlabeled rows make self-training worse.",),
        notes=(f"Column {nasty} was left out.",),
        baseline="k-nn",
        unit="labels",
        n_labels=20,
        facts={"labels used for training": 20, "splits": 5, "rows in the data": 12_000},
        columns={nasty: "numeric"},
        methods=(
            line("ordinal-knn", 0.9, n_kept=17, is_selected=True, **both(0.1, 0.05, 0.15)),
            line("k-nn", 0.8, is_baseline=True),
            line("self-training", 0.7, **both(-0.1, -0.2, -0.05)),
        ),
        curves=(
            Curve("ordinal-knn", (5, 20), (0.7, 0.9), (0.6, 0.8), (0.8, 1.0)),
            Curve("k-nn", (20,), (0.8,), (0.7,), (0.9,)),
        ),
        confusions=(Confusion("k-nn", ("a", nasty), ((3, 1), (0, 4))),),
        left_out={"kernel-pca": "needs about 3 GB."},
        command="handful compare data.csv --target y",
        versions={"handful": "0"},
    )


class Page(HTMLParser):
    """Checks that every element is closed in order, and gathers what a browser would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.fetched += [value for name, value in attrs if name in ("src", "href", "srcset", "data", "action")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_page_is_whole_loads_nothing_and_runs_only_its_own_script(report):
    page = Page()
    page.feed(render_html(report))
    assert page.open == []
    assert page.fetched == ["data:,"]
    assert page.tags.count("script") == 1
    assert "<script>alert(1)</script>" in page.text  # told as text
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|eval\(|innerHTML", render_html(report))
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", render_html(report))


def test_every_figure_is_told_in_words(report):
    text = render_html(report)
    figures = re.findall(r'<(?:svg|div class="chart")[^>]*>', text)
    assert len(figures) == 3
    assert all('role="img"' in figure and len(re.search('aria-label="([^"]+)"', figure)[1]) > 40 for figure in figures)
    assert text.count("<title>") == 2
    assert 'name="viewport"' in text
    assert "@media print" in text


def test_curves_count_what_was_learned_from_and_tell_their_draws(report):
    report = replace(report, unit="sentences")
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    for part in render_terminal(report):
        console.print(part)
    terminal = console.export_text()
    console.file.close()
    assert "Learning curve by number of sentences" in terminal
    assert "Learning curve by number of sentences" in render_html(report)
    assert "Accuracy in percent against the number of sentences" in render_html(report)
    for text in (terminal, render_html(report)):
        assert "the same at every size; the scores in the table use all splits" in text


def test_all_reports_say_the_same(report):
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    for part in render_terminal(report):
        console.print(part)
    terminal = console.export_text()
    console.file.close()
    for text in (terminal, render_html(report)):
        for fact in (
            "Selected: ordinal-knn, 90.0% accuracy.",
            "Unlabeled rows: significant benefit.",
            "90.0",
            "+10.0",
            "\N{MINUS SIGN}20.0",
            "12 kB",
            "10 ms",
            "30%",
            "make self-training worse",
            "needs about 3 GB",
        ):
            assert fact in text
    assert "handful compare data.csv --target y" in render_html(report)
    fragment = render_fragment(report)
    assert "ordinal-knn" in fragment
    assert ".handful-comparison .sub { display: block;" in fragment  # or the numbers of a cell run together


@pytest.mark.parametrize(("width", "shown"), [(200, {"splits", "model", "fit", "p"}), (80, {"score", "vs. baseline"})])
def test_a_narrow_terminal_goes_without_columns_and_cuts_no_number(report, width, shown):
    with open(os.devnull, "w") as nowhere:
        console = Console(width=width, record=True, file=nowhere)
        console.print(render_terminal(report)[0])
    table = console.export_text()
    assert "\N{HORIZONTAL ELLIPSIS}" not in table
    headings = table.splitlines()[1]
    assert all(f" {heading}" in headings for heading in shown)
    assert ("splits" in headings) == (width == 200)


def test_the_short_table_has_the_baseline(report):
    first, *_ = report.methods
    others = tuple(
        replace(first, method=f"m{number}", is_baseline=number == 5, is_selected=number == 0) for number in range(7)
    )
    with open(os.devnull, "w") as nowhere:
        console = Console(width=200, record=True, file=nowhere)
        for part in render_terminal(replace(report, methods=others), show_all=False):
            console.print(part)
    lines = console.export_text().splitlines()
    shown = {name for line in lines for name in line.split() if name[:1] == "m" and name[1:].isdigit()}
    assert shown == {"m0", "m1", "m2", "m5"}
    assert "3 more methods" in "".join(lines)


def test_names_of_several_lines_stay_in_one(report):
    first = replace(report.methods[0], method="k-nn\nodd\x1b[31m")
    told = replace(report, title="a\nb.csv", methods=(first, *report.methods[1:]), warnings=("one\ntwo",))
    with open(os.devnull, "w") as nowhere:
        console = Console(width=200, record=True, file=nowhere)
        for part in render_terminal(told):
            console.print(part)
    text = console.export_text()
    assert r"k-nn\nodd\x1b[31m" in text
    assert r"a\nb.csv" in text
    assert r"one\ntwo" in text


def test_a_report_without_results_is_still_a_report(report):
    bare = replace(report, methods=(), curves=(), confusions=(), warnings=(), left_out={}, columns={})
    assert "<dt>columns</dt>" in render_html(report)
    assert "<dt>columns</dt>" not in render_html(bare)
    page = Page()
    page.feed(render_html(bare))
    assert page.open == []


def test_long_names_are_cut_with_dots_and_told_in_full(report):
    long = "a class with a very long name indeed"
    confusions = (Confusion("k-nn", ("a", long), ((3, 1), (0, 4))),)
    page = render_html(replace(report, confusions=confusions))
    assert f'title="{long}">a class with a very lon\N{HORIZONTAL ELLIPSIS}</th>' in page


def test_every_dot_lies_within_the_width_of_its_screen(report):
    """Places are shares of the width, so that a phone shows them all; no figure asks for more than a phone has."""
    page = render_html(report)
    places = [float(place) for place in re.findall(r'class="(?:dot|mark|tick)[^"]*" style="left:([0-9.]+)%"', page)]
    assert len(places) > 5
    assert all(0 <= place <= 100 for place in places)
    spans = re.findall(r'class="span[^"]*" style="left:([0-9.]+)%;width:([0-9.]+)%"', page)
    assert all(float(left) + float(width) <= 100.01 for left, width in spans)
    assert "min-width: 36rem" not in page
    assert all(int(width) <= 400 for width in re.findall(r'viewBox="0 0 (\d+) ', page))


def test_numbers_can_be_sorted_and_pointed_at(report):
    page = render_html(report)
    keys = re.findall(r'<td data-sort="([^"]*)">', page)
    assert len(keys) == 10 * 3
    assert all(key == "" or float(key) is not None for number, key in enumerate(keys) if number % 10)
    assert 'data-tip="ordinal-knn: 90.0 (80.0 to 95.0), better, selected"' in page


def test_the_selected_model_is_set_off_in_the_chart_by_more_than_color(report):
    page = render_html(report)
    assert page.count('<div class="bar use"') == 1
    assert page.count("&#9654; ordinal-knn</span>") == 1
    assert "rotate: 45deg" in page


@pytest.mark.browser
def test_the_ranking_fits_a_screen_of_1200_pixels(report, tmp_path):
    wide = {"difference": Difference("k-nn", -0.148, -0.504, -0.208, 0.4, 5), "n_bytes": 582_700, "p_value": 0.421}
    wide["gain"] = Difference("k-nn", 0.222, -0.293, 0.537, 0.4, 5)
    names = ("ensemble", "semi-supervised-condensed-nn", "condensed-feature-classifier")
    methods = tuple(line(name, 0.815, **wide, params={"n_neighbors": 1, "kernel": "poly"}) for name in names)
    measure = """<script>document.title = "hidden: " + [...document.querySelectorAll(".scroll, .bar .name")].map(
        (part) => part.scrollWidth - part.clientWidth).join(" ")</script></body>"""
    path = tmp_path / "report.html"
    page = render_html(replace(report, title="plain", methods=methods))
    path.write_text(page.replace("</body>", measure))
    browser = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,900", "--dump-dom")
    shown = subprocess.run((*browser, path.as_uri()), capture_output=True, text=True, timeout=120, check=True).stdout
    hidden = re.search("<title>hidden: ([^<]*)</title>", shown)[1].split()
    assert len(hidden) == 8
    assert max(map(int, hidden)) <= 0
