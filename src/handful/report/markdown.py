"""A comparison as Markdown; nothing in data can be markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from handful.report import content as words
from handful.report.content import Report

# What begins or ends markup, and control characters; an underscore between letters is none.
_MARKUP = re.compile(r"[\\`*\[\]<>~&]|(?<![^\W_])_|_(?![^\W_])")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


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
    parts = [f"# {escaped(report.title)}: comparison of methods", *map(escaped, (report.selection, report.unlabeled))]
    parts += [f"**Warning:** {escaped(warning)}" for warning in report.warnings]
    parts.append(_ranking(report))
    parts.append(
        f"Score: {report.metric} in percent, mean over random splits with a 95% interval. P(best): probability of being the "
        f"best candidate. Vs. baseline: difference in points to the best supervised method ({escaped(str(report.baseline))}), with "
        "the p-value of the corrected resampled t-test, adjusted for the number of methods. Unlabeled rows add: difference to the "
        "same method without unlabeled rows."
    )
    return "\n\n".join([*parts, *_curves(report), *_confusions(report), *_run(report)]) + "\n"


def _curves(report: Report) -> list[str]:
    if not report.curves:
        return []
    sizes, lines = words.curve_table(report.curves)
    return ["## Learning curve", _table([report.unit, *map(str, sizes)], lines), words.CURVE_NOTE]


def _confusions(report: Report) -> list[str]:
    parts = []
    for confusion in report.confusions:
        if 0 < len(confusion.classes) <= 12 and confusion.counts:
            rows = zip(confusion.classes, confusion.counts, strict=True)
            lines = [[name, *map(str, counts)] for name, counts in rows]
            parts += [
                f"## Predictions of {escaped(confusion.name)}",
                _table(["true / predicted", *confusion.classes], lines),
            ]
    return parts


def _run(report: Report) -> list[str]:
    facts = [*report.facts.items(), *((f"column {name}", kind) for name, kind in report.columns.items())]
    notes = [*report.notes, *report.absences]
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", report.command))])
    return [
        "## Data and run",
        "\n".join(f"* {escaped(name)}: {escaped(str(value))}" for name, value in facts),
        *(["\n".join(f"* {escaped(note)}" for note in notes)] if notes else []),
        f"{fence}\n{visible_line(report.command)}\n{fence}",
        ", ".join(f"{name} {version}" for name, version in report.versions.items()),
    ]


def _ranking(report: Report) -> str:
    head = [
        "method",
        "score",
        "95% CI",
        "P(best)",
        "vs. baseline",
        "p",
        "",
        "unlabeled rows add",
        "splits",
        "model",
        "fit",
    ]
    lines = [
        [
            score.method,
            words.percent(score.mean),
            words.interval(score.low, score.high),
            words.probability(score.p_best),
            words.difference(score),
            words.p_value(score.p_value),
            words.mark(score).replace("baseline", ""),
            words.gain(score),
            str(score.n_splits),
            words.size(score.n_bytes),
            words.seconds(score.fit_seconds),
        ]
        for score in report.methods
    ]
    return _table(head, lines)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(escaped(cell).replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, lines)])
