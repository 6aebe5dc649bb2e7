"""A comparison as one HTML page that needs no network, reads on a phone and prints."""

from __future__ import annotations

from functools import cache
from typing import Any

from handful.core.counted import counted
from handful.reports import words
from handful.reports.content import Content, Row
from handful.reports.figures import curves_figure, decisions_figure
from handful.reports.forest import gains_forest, scores_forest
from handful.reports.markdown import decisions_in_words

_MOST_CLASSES = 20
_MOST_COLUMNS = 60
_HEAD = ("method", "score", "chance", "to baseline", "p", "gain", "draws", "model", "fit", "1,000 rows")


def render_html(content: Content) -> str:
    """Return a report as one whole HTML page.

    Parameters
    ----------
    content : Content
        What it says.

    Returns
    -------
    str
        The page; it loads nothing. Its one small script sorts the table and tells numbers where one points.
    """
    templates = _templates()
    page: str = templates.get_template("page.html").render(
        content=content,
        title=f"{content.title}: which method, with few labels?",
        style=_text("style.css"),
        script=_text("script.js"),
        chart=templates.get_template("chart.html").module.chart,
        scores=scores_forest(content.rows, content.baseline, content.use) if content.rows else None,
        gains=gains_forest(content.rows),
        curves=_safe(curves_figure(content.curves, what=content.learned_from, metric=content.metric)),
        curve_note=words.CURVE_NOTE,
        confusions=[c for c in content.confusions if c.counts and len(c.classes) <= _MOST_CLASSES],
        decisions=_decisions(content),
        decisions_text=decisions_in_words(content),
        table=_table(content),
        facts=_facts(content),
        notes=[*content.notes, *content.absences],
        versions=", ".join(f"{name} {version}" for name, version in content.versions.items()),
    )
    return page


def _facts(content: Content) -> list[tuple[str, str]]:
    facts = [(name, _number(value)) for name, value in content.facts.items()]
    columns = list(content.columns.items())
    if columns:
        told = ", ".join(f"{name} ({kind})" for name, kind in columns[:_MOST_COLUMNS])
        more = f" and {len(columns) - _MOST_COLUMNS} more" if len(columns) > _MOST_COLUMNS else ""
        facts.append(("columns", told + more))
    return facts


def render_fragment(content: Content) -> str:
    """Return verdict and table alone, for a notebook.

    Parameters
    ----------
    content : Content
        What it says.

    Returns
    -------
    str
        A ``<div>`` element.
    """
    fragment: str = (
        _templates()
        .get_template("fragment.html")
        .render(content=content, table=_table(content), style=_text("fragment.css"))
    )
    return fragment


@cache
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("handful.reports", "templates")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["clipped"] = words.clipped
    return environment


def _text(name: str) -> str:
    environment = _templates()
    source: str = environment.loader.get_source(environment, name)[0]
    return source


def _safe(markup: str) -> Any:
    from markupsafe import Markup

    return Markup(markup)  # of our own making, with every name in it escaped


def _table(content: Content) -> Any:
    lines = [
        {
            "name": row.name,
            "use": row.name == content.use,
            "settings": words.settings(row.params),
            "cells": _cells(row, content.baseline),
        }
        for row in content.rows
    ]
    return _safe(_templates().get_template("table.html").render(head=_HEAD, lines=lines))


def _cells(row: Row, baseline: str | None) -> list[dict[str, Any]]:
    mark = words.mark(row, baseline)
    against = row.against or (0.0, 0.0, 0.0)
    to_baseline = "baseline" if mark == "baseline" else words.signed(against[0]) if row.against else ""
    kept = f"{counted(row.n_kept, 'row')} kept" if row.n_kept is not None else ""
    return [
        _cell(row.expected, words.percent(row.score), words.interval(row.low, row.high)),
        _cell(row.p_best, words.share(row.p_best)),
        _cell(against[0], to_baseline, words.span(row.against) if row.against else "", mark),
        _cell("" if row.p is None else row.p, words.chance(row.p)),
        _gain_cell(row.gain),
        _cell(row.n_draws, str(row.n_draws)),
        _cell(row.n_bytes, words.size(row.n_bytes), kept),
        _cell(row.fit_seconds, words.seconds(row.fit_seconds)),
        _cell(row.predict_seconds, words.seconds(row.predict_seconds)),
    ]


def _gain_cell(gain: tuple[float, float, float] | None) -> dict[str, Any]:
    if gain is None:
        return _cell("", "")
    kind = "harms" if gain[2] < 0 else "helps" if gain[1] > 0 else ""
    return _cell(gain[0], words.signed(gain[0]) + (" harm" if kind == "harms" else ""), words.span(gain), kind)


def _cell(sort: Any, text: str, sub: str = "", kind: str = "") -> dict[str, Any]:
    return {"sort": sort, "text": text, "sub": sub, "kind": kind}


def _decisions(content: Content) -> Any:
    if content.decisions is None:
        return ""
    return _safe(decisions_figure(content.decisions, decisions_in_words(content)))


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
