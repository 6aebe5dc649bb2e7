"""A comparison as Markdown; nothing in data can be markup."""

from __future__ import annotations

import re
from collections.abc import Sequence

from handful.core.counted import counted
from handful.reports import words
from handful.reports.content import Content

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


def render_markdown(content: Content) -> str:
    """Return a report as Markdown.

    Parameters
    ----------
    content : Content
        What it says.

    Returns
    -------
    str
        The text.
    """
    parts = [
        f"# {escaped(content.title)}: which method, with few labels?",
        *map(escaped, (content.best_bet, content.proven)),
    ]
    parts += [f"**Warning:** {escaped(warning)}" for warning in content.warnings]
    parts.append(_table(*_ranking(content)))
    parts.append(
        f"Score: {content.metric} in percent, mean over up to {counted(content.facts['draws'], 'draw')} with a 95 % interval; "
        "of a method with fewer draws it allows for how hard these were for the others. Chance: that it is the best. "
        f"Against the baseline ({escaped(str(content.baseline))}) in points, over the draws that both had, with the p-value of a "
        "paired test corrected for overlapping draws and for the number of methods. Gain: "
        "against the same method without unlabeled data."
    )
    parts += [*_curves(content), *_confusions(content)]
    if content.decisions is not None:
        parts.append(f"## Where unlabeled data changed answers\n\n{escaped(decisions_in_words(content))}")
    return "\n\n".join([*parts, *_run(content)]) + "\n"


def _curves(content: Content) -> list[str]:
    if not content.curves:
        return []
    sizes, lines = words.curve_lines(content.curves)
    return ["## Learning curve", _table([content.learned_from, *map(str, sizes)], lines), words.CURVE_NOTE]


def _confusions(content: Content) -> list[str]:
    parts = []
    for confusion in content.confusions:
        if 0 < len(confusion.classes) <= 12 and confusion.counts:
            rows = zip(confusion.classes, confusion.counts, strict=True)
            lines = [[name, *map(str, counts)] for name, counts in rows]
            parts += [f"## Answers of {escaped(confusion.name)}", _table(["class / answer", *confusion.classes], lines)]
    return parts


def _run(content: Content) -> list[str]:
    facts = [*content.facts.items(), *((f"column {name}", kind) for name, kind in content.columns.items())]
    notes = [*content.notes, *content.absences]
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", content.command))])
    return [
        "## Data and run",
        "\n".join(f"* {escaped(name)}: {escaped(str(value))}" for name, value in facts),
        *(["\n".join(f"* {escaped(note)}" for note in notes)] if notes else []),
        f"{fence}\n{visible_line(content.command)}\n{fence}",
        ", ".join(f"{name} {version}" for name, version in content.versions.items()),
    ]


def decisions_in_words(content: Content) -> str:
    """Tell in a sentence where unlabeled rows changed answers."""
    decisions = content.decisions
    if decisions is None:
        return ""
    return (
        f"On the first draw, {decisions.method} answers {decisions.n_changed:,} of {counted(decisions.n_rows, 'row')} otherwise "
        f"than {decisions.twin}; "
        f"of the tested ones among them, {decisions.n_better:,} became right and {decisions.n_worse:,} wrong."
    )


def _ranking(content: Content) -> tuple[list[str], list[list[str]]]:
    head = [
        "method",
        "score",
        "interval",
        "chance",
        "against baseline",
        "p",
        "",
        "gain from unlabeled data",
        "draws",
        "model",
        "fit",
        "1,000 rows",
    ]
    lines = [
        [
            row.name,
            words.percent(row.score),
            words.interval(row.low, row.high),
            words.share(row.p_best),
            words.difference(row, content.baseline),
            words.chance(row.p),
            words.mark(row, content.baseline).replace("baseline", "") + (" (harmed)" if words.harms(row) else ""),
            words.gain(row),
            str(row.n_draws),
            words.size(row.n_bytes),
            words.seconds(row.fit_seconds),
            words.seconds(row.predict_seconds),
        ]
        for row in content.rows
    ]
    return head, lines


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(escaped(cell).replace("|", "\\|") for cell in cells) + " |"

    return "\n".join([line(head), "|" + "---|" * len(head), *map(line, lines)])
