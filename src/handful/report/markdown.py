"""A comparison as Markdown; nothing in data can be markup."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from handful.report import content as words
from handful.report.content import Report

# What begins or ends markup, and control characters; an underscore between letters is none.
_MARKUP = re.compile(r"[\\`*\[\]<>~&]|(?<![^\W_])_|_(?![^\W_])")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_MAX_CLASSES = 12


def escaped(text: str) -> str:
    r"""Return a text that Markdown shows as it is.

    Examples
    --------
    >>> escaped("<script> a_b *c*")
    '\\<script\\> a_b \\*c\\*'
    """
    return _MARKUP.sub(lambda match: "\\" + match.group(), visible_line(text))


def visible_line(text: str) -> str:
    r"""Return a text in one line, its control characters written out.

    Examples
    --------
    >>> visible_line("a\nb\x1b[31m")
    'a b\\x1b[31m'
    """
    return _CONTROL.sub(
        lambda match: match.group().encode("unicode_escape").decode("ascii"), " ".join(text.split("\n"))
    )


def render_markdown(report: Report) -> str:
    """Return a report as Markdown."""
    cells = [words.ranking_cells(score) for score in report.methods]
    sizes, curves = words.curve_table(report.curves)
    shown = [
        confusion for confusion in report.confusions if confusion.counts and len(confusion.classes) <= _MAX_CLASSES
    ]
    page: str = _template().render(
        report=report,
        head=["method", *words.RANKING, ""],
        ranking=[
            [score.method, *line.values(), words.mark(score).replace("baseline", "")]
            for score, line in zip(report.methods, cells, strict=True)
        ],
        sizes=list(map(str, sizes)),
        curves=curves,
        curve_note=words.CURVE_NOTE,
        confusions=[{"name": one.name, "classes": one.classes, "lines": _lines(one)} for one in shown],
        facts=[*report.facts.items(), *((f"column {name}", kind) for name, kind in report.columns.items())],
        notes=[*report.notes, *report.absences],
        command=visible_line(report.command),
        fence="`" * max([3, *(len(run) + 1 for run in re.findall("`+", report.command))]),
        versions=", ".join(f"{name} {version}" for name, version in report.versions.items()),
    )
    return re.sub("\n{3,}", "\n\n", page).strip() + "\n"


def _lines(confusion: words.Confusion) -> list[list[str]]:
    return [[name, *map(str, counts)] for name, counts in zip(confusion.classes, confusion.counts, strict=True)]


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("handful.report", "templates")
    environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["escaped"] = escaped
    environment.globals["table"] = _table
    return environment.get_template("report.md")


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(escaped(cell).replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, lines)])
