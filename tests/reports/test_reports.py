from __future__ import annotations

import os
import re
import subprocess
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from rich.console import Console

from handful.reports.content import Confusion, Content, Curve, DecisionMap, Row
from handful.reports.html import render_fragment, render_html
from handful.reports.markdown import render_markdown
from handful.reports.terminal import render_terminal

VOID = {"meta", "link", "br", "line", "circle", "rect", "polyline"}


def row(name: str, score: float, **changes) -> Row:
    usual = Row(
        name=name,
        uses_unlabeled=False,
        score=score,
        low=score - 0.1,
        high=score + 0.05,
        measured=score,
        expected=score,
        p_best=0.3,
        n_draws=5,
        against=None,
        p=None,
        gain=None,
        twin=None,
        n_bytes=12_345,
        n_kept=None,
        fit_seconds=0.01,
        predict_seconds=0.02,
        params={"k": 1},
    )
    return replace(usual, **changes)


@pytest.fixture
def content() -> Content:
    nasty = "<script>alert(1)</script>|&"
    gain = {"uses_unlabeled": True, "twin": "k-nn", "p": 0.01}
    return Content(
        title=f"data {nasty}",
        metric="accuracy",
        state="finished",
        best_bet="Best bet: ordinal-knn.",
        proven="Proven: it is better.",
        use="ordinal-knn",
        unlabeled_help=True,
        warnings=("Unlabeled rows do harm to self-training.",),
        notes=(f"Column {nasty} was left out.",),
        baseline="k-nn",
        facts={"labels used for training": 20, "draws": 5, "rows in the data": 12_000},
        columns={nasty: "numeric"},
        rows=(
            row("ordinal-knn", 0.9, against=(0.1, 0.05, 0.15), gain=(0.1, 0.05, 0.15), n_kept=17, **gain),
            row("k-nn", 0.8),
            row("self-training", 0.7, against=(-0.1, -0.2, -0.05), gain=(-0.1, -0.2, -0.05), **gain),
        ),
        curves=(
            Curve("ordinal-knn", (5, 20), (0.7, 0.9), (0.6, 0.8), (0.8, 1.0)),
            Curve("k-nn", (20,), (0.8,), (0.7,), (0.9,)),
        ),
        confusions=(Confusion("k-nn", ("a", nasty), ((3, 1), (0, 4))),),
        decisions=DecisionMap(
            "ordinal-knn",
            "k-nn",
            (0.0, 1.0, 2.0),
            (1.0, 0.0, 1.0),
            (0, 0, 1),
            (0, 1, 1),
            (True, False, False),
            ("a", nasty),
            3,
            1,
            1,
            0,
        ),
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


def test_the_page_is_whole_loads_nothing_and_runs_only_its_own_script(content):
    page = Page()
    page.feed(render_html(content))
    assert page.open == []
    assert page.fetched == ["data:,"]
    assert page.tags.count("script") == 1
    assert "<script>alert(1)</script>" in page.text  # told as text
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|eval\(|innerHTML", render_html(content))
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", render_html(content))


def test_every_figure_is_told_in_words(content):
    text = render_html(content)
    figures = re.findall(r'<(?:svg|div class="chart")[^>]*>', text)
    assert len(figures) == 4
    assert all('role="img"' in figure and len(re.search('aria-label="([^"]+)"', figure)[1]) > 40 for figure in figures)
    assert text.count("<title>") == 3
    assert 'name="viewport"' in text
    assert "@media print" in text


def test_curves_count_what_was_learned_from_and_tell_their_draws(content):
    content = replace(content, facts={"sentences used for training": 20, "draws": 5})
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    for part in render_terminal(content):
        console.print(part)
    terminal = console.export_text()
    console.file.close()
    assert "Learning curve, by number of sentences" in terminal
    assert "Learning curve, by number of sentences" in render_html(content)
    assert "Accuracy in percent against the number of sentences" in render_html(content)
    assert "| sentences | 5 | 20 |" in render_markdown(content)
    for text in (terminal, render_markdown(content), render_html(content)):
        assert "the same at every size; scores of the ranking are those of all draws" in text


def test_all_reports_say_the_same(content):
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    for part in render_terminal(content):
        console.print(part)
    terminal = console.export_text()
    console.file.close()
    for text in (terminal, render_markdown(content), render_html(content)):
        for fact in (
            "Best bet: ordinal-knn.",
            "Proven: it is better.",
            "90.0",
            "+10.0",
            "\N{MINUS SIGN}20.0",
            "12.3 kB",
            "10 ms",
            "30 %",
            "do harm",
            "needs about 3 GB",
        ):
            assert fact in text
        assert "harm" in text
    assert "handful compare data.csv --target y" in render_markdown(content)
    fragment = render_fragment(content)
    assert "ordinal-knn" in fragment
    assert ".handful-comparison .sub { display: block;" in fragment  # or the numbers of a cell run together


@pytest.mark.parametrize(("width", "shown"), [(200, {"draws", "model", "fit", "p"}), (80, {"score", "to baseline"})])
def test_a_narrow_terminal_goes_without_columns_and_cuts_no_number(content, width, shown):
    with open(os.devnull, "w") as nowhere:
        console = Console(width=width, record=True, file=nowhere)
        console.print(render_terminal(content)[0])
    table = console.export_text()
    assert "\N{HORIZONTAL ELLIPSIS}" not in table
    headings = table.splitlines()[1]
    assert all(f" {heading}" in headings for heading in shown)
    assert ("draws" in headings) == (width == 200)


def test_markdown_holds_no_markup_of_the_data(content):
    text = render_markdown(content)
    assert "<script>" not in text
    assert r"\<script\>" in text


def test_markdown_tables_keep_their_columns(content):
    lines = [line for line in render_markdown(content).splitlines() if line.startswith("|")]
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in lines]
    assert widths[:5] == [13] * 5


def test_a_report_without_results_is_still_a_report(content):
    bare = replace(content, rows=(), curves=(), confusions=(), decisions=None, warnings=(), left_out={}, columns={})
    assert "<dt>columns</dt>" in render_html(content)
    assert "<dt>columns</dt>" not in render_html(bare)
    page = Page()
    page.feed(render_html(bare))
    assert page.open == []
    assert render_markdown(bare)


def test_long_names_are_cut_with_dots_and_told_in_full(content):
    long = "a class with a very long name indeed"
    confusions = (Confusion("k-nn", ("a", long), ((3, 1), (0, 4))),)
    page = render_html(
        replace(content, confusions=confusions, decisions=replace(content.decisions, classes=("a", long)))
    )
    assert f'title="{long}">a class with a very lon\N{HORIZONTAL ELLIPSIS}</th>' in page
    assert ">class a class with a ve\N{HORIZONTAL ELLIPSIS}</text>" in page


def test_every_dot_lies_within_the_width_of_its_screen(content):
    """Places are shares of the width, so that a phone shows them all; no figure asks for more than a phone has."""
    page = render_html(content)
    places = [float(place) for place in re.findall(r'class="(?:dot|mark|tick)[^"]*" style="left:([0-9.]+)%"', page)]
    assert len(places) > 5
    assert all(0 <= place <= 100 for place in places)
    spans = re.findall(r'class="span[^"]*" style="left:([0-9.]+)%;width:([0-9.]+)%"', page)
    assert all(float(left) + float(width) <= 100.01 for left, width in spans)
    assert "min-width: 36rem" not in page
    assert all(int(width) <= 400 for width in re.findall(r'viewBox="0 0 (\d+) ', page))


def test_numbers_can_be_sorted_and_pointed_at(content):
    page = render_html(content)
    keys = re.findall(r'<td data-sort="([^"]*)">', page)
    assert len(keys) == 10 * 3
    assert all(key == "" or float(key) is not None for number, key in enumerate(keys) if number % 10)
    assert 'data-tip="ordinal-knn: 90.0 (80.0 to 95.0), better, the best bet"' in page


def test_the_best_bet_is_set_off_in_the_chart_by_more_than_color(content):
    page = render_html(content)
    assert page.count('<div class="bar use"') == 1
    assert page.count("&#9654; ordinal-knn</span>") == 1
    assert "rotate: 45deg" in page


@pytest.mark.browser
def test_the_ranking_fits_a_screen_of_1200_pixels(content, tmp_path):
    wide = {"against": (-0.148, -0.504, -0.208), "gain": (0.222, -0.293, 0.537), "n_bytes": 582_700, "p": 0.421}
    names = ("team", "semi-supervised-condensed-nn", "condensed-feature-classifier")
    rows = tuple(row(name, 0.815, **wide, params={"n_neighbors": 1, "kernel": "poly"}) for name in names)
    measure = """<script>document.title = "hidden: " + [...document.querySelectorAll(".scroll, .bar .name")].map(
        (part) => part.scrollWidth - part.clientWidth).join(" ")</script></body>"""
    path = tmp_path / "report.html"
    page = render_html(replace(content, title="plain", rows=rows, use="team", baseline="k-nn"))
    path.write_text(page.replace("</body>", measure))
    browser = ("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1200,900", "--dump-dom")
    shown = subprocess.run((*browser, path.as_uri()), capture_output=True, text=True, timeout=120, check=True).stdout
    hidden = re.search("<title>hidden: ([^<]*)</title>", shown)[1].split()
    assert len(hidden) == 8
    assert max(map(int, hidden)) <= 0
