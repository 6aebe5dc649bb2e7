from __future__ import annotations

import re
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
        name, False, score, score - 0.1, score + 0.05, 0.0, None, None, None, 12_345, None, 0.01, 0.02, {"k": 1}
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
        verdict="Use ordinal-knn.",
        use="ordinal-knn",
        unlabeled_help=True,
        warnings=("Unlabeled rows do harm to self-training.",),
        notes=(f"Column {nasty} was left out.",),
        baseline="k-nn",
        facts={"labels used for training": 20, "draws finished": 5, "rows in the data": 12_000},
        columns={nasty: "numeric"},
        rows=(
            row("ordinal-knn", 0.9, difference=0.1, gain=(0.1, 0.05, 0.15), n_kept=17, **gain),
            row("k-nn", 0.8),
            row("self-training", 0.7, difference=-0.1, gain=(-0.1, -0.2, -0.05), **gain),
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


def test_the_page_is_whole_loads_nothing_and_runs_nothing(content):
    page = Page()
    page.feed(render_html(content))
    assert page.open == []
    assert page.fetched == ["data:,"]
    assert "script" not in page.tags
    assert "<script>alert(1)</script>" in page.text  # told as text
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", render_html(content))


def test_every_figure_is_told_in_words(content):
    text = render_html(content)
    figures = re.findall(r"<svg[^>]*>", text)
    assert len(figures) == 4
    assert all('role="img"' in figure and len(re.search('aria-label="([^"]+)"', figure)[1]) > 40 for figure in figures)
    assert text.count("<title>") == 5
    assert 'name="viewport"' in text
    assert "@media print" in text


def test_all_reports_say_the_same(content):
    console = Console(width=200, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    for part in render_terminal(content):
        console.print(part)
    terminal = console.export_text()
    console.file.close()
    for text in (terminal, render_markdown(content), render_html(content)):
        for fact in (
            "Use ordinal-knn.",
            "90.0",
            "+10.0",
            "\N{MINUS SIGN}20.0",
            "12.3 kB",
            "20 ms",
            "do harm",
            "needs about 3 GB",
        ):
            assert fact in text
        assert "harm" in text
    assert "handful compare data.csv --target y" in render_markdown(content)
    fragment = render_fragment(content)
    assert "ordinal-knn" in fragment
    assert ".handful-comparison .sub { display: block;" in fragment  # or the numbers of a cell run together


def test_markdown_tables_keep_their_columns(content):
    lines = [line for line in render_markdown(content).splitlines() if line.startswith("|")]
    widths = [len(re.findall(r"(?<!\\)\|", line)) for line in lines]
    assert widths[:5] == [11] * 5


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
    assert ">class a class with a very\N{HORIZONTAL ELLIPSIS}</text>" in page
