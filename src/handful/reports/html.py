"""A comparison as one HTML page that needs no network, reads on a phone and prints."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from handful.reports import words
from handful.reports.content import Confusion, Content, Row
from handful.reports.figures import curves_figure, decisions_figure, gains_figure, scores_figure
from handful.reports.markdown import decisions_in_words

_MOST_CLASSES = 20

_STYLE = """
:root { --ink: #1d2530; --soft: #5d6875; --rule: #d9dee4; --paper: #ffffff; --panel: #f5f7f9; --good: #00684d;
  --bad: #a63c00; --accent: #005a8d; color-scheme: light dark; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7ebef; --soft: #a3adb8; --rule: #3a444f; --paper: #14191f;
  --panel: #1d242c; --good: #4fd1a5; --bad: #ff9a66; --accent: #6cb8ea; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main, .handful { max-width: 70rem; margin: 0 auto; padding: 1.2rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: .4rem 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; border-top: 1px solid var(--rule); padding-top: 1.2rem; }
.verdict { font-size: 1.15rem; border-left: .35rem solid var(--accent); background: var(--panel); padding: .9rem 1.1rem; }
.verdict.help { border-color: var(--good); }
.warning { color: var(--bad); font-weight: 600; margin: .6rem 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; font-variant-numeric: tabular-nums; }
th, td { padding: .4rem .55rem; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; }
td .sub { color: var(--soft); display: block; font-size: .82rem; }
td:first-child .sub { white-space: normal; font-weight: 400; max-width: 15rem; }
.better, .helps { color: var(--good); font-weight: 600; } .worse, .harms { color: var(--bad); font-weight: 600; }
tr.use td { background: var(--panel); } tr.use td:first-child { font-weight: 700; }
.note { color: var(--soft); font-size: .9rem; }
figure { margin: .5rem 0; } svg { width: 100%; height: auto; display: block; }
svg text { font: 14px system-ui, sans-serif; fill: var(--ink); } svg .tick { font-size: 13px; fill: var(--soft); }
svg .grid { stroke: var(--rule); stroke-width: 1; } svg .mark { stroke: var(--accent); stroke-width: 1.5; stroke-dasharray: 4 4; }
svg .given { stroke: var(--ink); stroke-width: 2; }
.confusions { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 1.5rem; }
.confusions table { width: auto; } .confusions td, .confusions th { text-align: center; min-width: 2.6rem; }
.confusions caption { text-align: left; font-weight: 600; padding-bottom: .4rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: 0; font-size: .92rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
pre { background: var(--panel); padding: .8rem; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
@media (max-width: 40rem) { body { font-size: 15px; } main { padding: .8rem; } dl { grid-template-columns: 1fr; }
  dd { margin-bottom: .5rem; } figure { overflow-x: auto; } svg { min-width: 36rem; } th, td { padding: .35rem .4rem; } }
@media print { :root { --ink: #000; --soft: #444; --rule: #bbb; --paper: #fff; --panel: #f2f2f2; }
  main { max-width: none; padding: 0; }
  h2 { break-after: avoid; } figure, .confusions table, tr { break-inside: avoid; } .scroll { overflow: visible; }
  table { font-size: .72rem; } td .sub { font-size: .66rem; } th, td { padding: .2rem .3rem; } }
"""

# A notebook has styles of its own; without these, a score and its interval would run into each other.
_FRAGMENT_STYLE = (
    ".handful-comparison .sub { display: block; font-size: .85em; opacity: .75; } "
    ".handful-comparison .better, .handful-comparison .helps, .handful-comparison .worse, .handful-comparison .harms "
    "{ font-weight: 600; }"
)


def render_html(content: Content) -> str:
    """Return a report as one whole HTML page.

    Parameters
    ----------
    content : Content
        What it says.

    Returns
    -------
    str
        The page; it loads nothing, and holds no script.
    """
    title = escape(f"{content.title}: which method, with few labels?")
    body = "\n".join(
        [
            _head(content, title),
            _ranking(content),
            _figures(content),
            _confusions(content.confusions),
            _decisions(content),
            _run(content),
        ]
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        # without this a browser would ask the server for an icon
        f'<link rel="icon" href="data:,">\n<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n'
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


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
    verdict = f"<p><b>{escape(content.verdict)}</b></p>"
    warnings = "".join(f"<p>{escape(warning)}</p>" for warning in content.warnings)
    return f'<div class="handful-comparison"><style>{_FRAGMENT_STYLE}</style>{verdict}{warnings}{_table(content)}</div>'


def _head(content: Content, title: str) -> str:
    help_class = " help" if content.unlabeled_help else ""
    warnings = "".join(f'<p class="warning">Warning: {escape(warning)}</p>' for warning in content.warnings)
    return f'<h1>{title}</h1>\n<p class="verdict{help_class}">{escape(content.verdict)}</p>\n{warnings}'


def _ranking(content: Content) -> str:
    return (
        f'<h2>Ranking</h2>\n<div class="scroll">{_table(content)}</div>\n'
        f'<p class="note">Score: {escape(content.metric)} in percent, mean over {content.facts["draws finished"]} draws, with '
        f"a 95 % interval. Difference to the baseline ({escape(content.baseline)}) in points; p is that of a paired test, "
        "corrected for overlapping draws and for the number of methods. Gain: against the same method without unlabeled "
        "rows, with a 95 % interval. Times are medians, without the parameter search.</p>"
    )


def _table(content: Content) -> str:
    head = ("method", "score", "to baseline", "p", "gain from unlabeled rows", "model", "fit", "1,000 rows")
    cells = "".join(f'<th scope="col">{name}</th>' for name in head)
    lines = "\n".join(_line(row, content) for row in content.rows)
    return f"<table><thead><tr>{cells}</tr></thead>\n<tbody>{lines}</tbody></table>"


def _line(row: Row, content: Content) -> str:
    mark = words.mark(row, content.baseline)
    gain = ""
    if row.gain is not None:
        mean, low, high = row.gain
        kind = "harms" if high < 0 else "helps" if low > 0 else ""
        gain = (
            f'<span class="{kind}">{words.signed(mean)}{" harm" if kind == "harms" else ""}</span>'
            f'<span class="sub">{words.signed(low)} to {words.signed(high)}</span>'
        )
    kept = f'<span class="sub">{row.n_kept:,} rows kept</span>' if row.n_kept is not None else ""
    verdict = f'<span class="sub {mark}">{mark}</span>' if mark in ("better", "worse", "baseline") else ""
    name = f'{escape(row.name)}<span class="sub">{escape(words.settings(row.params))}</span>'
    cells = (
        name,
        f'{words.percent(row.score)}<span class="sub">{words.interval(row.low, row.high)}</span>',
        f"{words.signed(row.difference)}{verdict}",
        escape(words.chance(row.p)),
        gain,
        f"{words.size(row.n_bytes)}{kept}",
        words.seconds(row.fit_seconds),
        words.seconds(row.predict_seconds),
    )
    use = ' class="use"' if row.name == content.use else ""
    return f"<tr{use}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _figures(content: Content) -> str:
    parts = []
    if content.rows:
        parts.append(f"<h2>Scores</h2>\n<figure>{scores_figure(content.rows, content.baseline)}</figure>")
        parts.append('<p class="note">The dashed line is the baseline. Bars are 95 % intervals.</p>')
    gains = gains_figure(content.rows)
    if gains:
        parts.append(f"<h2>What unlabeled rows bring</h2>\n<figure>{gains}</figure>")
        parts.append('<p class="note">Points gained over the same method without unlabeled rows.</p>')
    curves = curves_figure(content.curves)
    if curves:
        parts.append(f"<h2>Learning curve</h2>\n<figure>{curves}</figure>")
    return "\n".join(parts)


def _confusions(confusions: Sequence[Confusion]) -> str:
    shown = [c for c in confusions if c.counts and len(c.classes) <= _MOST_CLASSES]
    if not shown:
        return ""
    tables = "\n".join(map(_confusion, shown))
    return (
        f'<h2>Which classes are mixed up</h2>\n<div class="confusions">{tables}</div>\n'
        '<p class="note">Lines are right classes, columns answers, summed over all draws.</p>'
    )


def _confusion(found: Confusion) -> str:
    names = [f' title="{escape(name)}">{escape(words.clipped(name, 24))}</th>' for name in found.classes]
    head = "".join(f'<th scope="col"{name}' for name in names)
    lines = []
    for row_number, (name, counts) in enumerate(zip(names, found.counts, strict=True)):
        total = max(sum(counts), 1)
        cells = "".join(
            f'<td style="background: rgb({"0 158 115" if column == row_number else "213 94 0"} / '
            f'{0.65 * count / total:.2f})">{count:,}</td>'
            for column, count in enumerate(counts)
        )
        lines.append(f'<tr><th scope="row"{name}{cells}</tr>')
    return (
        f'<div class="scroll"><table><caption>{escape(found.name)}</caption><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _decisions(content: Content) -> str:
    if content.decisions is None:
        return ""
    text = decisions_in_words(content)
    return (
        f"<h2>Where unlabeled rows changed answers</h2>\n<figure>{decisions_figure(content.decisions, text)}</figure>\n"
        f'<p class="note">{escape(text)} Rows are placed by their first two principal components.</p>'
    )


def _run(content: Content) -> str:
    columns = ", ".join(f"{name} ({kind})" for name, kind in list(content.columns.items())[:60])
    more = f" and {len(content.columns) - 60} more" if len(content.columns) > 60 else ""
    facts = [*content.facts.items(), *([("columns", columns + more)] if columns else [])]
    listed = "".join(f"<dt>{escape(str(name))}</dt><dd>{escape(_number(value))}</dd>" for name, value in facts)
    notes = [*content.notes, *(f"{name} did not take part: {why}" for name, why in content.left_out.items())]
    told = "".join(f"<p>{escape(note)}</p>" for note in notes)
    versions = ", ".join(f"{name} {version}" for name, version in content.versions.items())
    return (
        f"<h2>Data and run</h2>\n<dl>{listed}</dl>\n{told}\n<h2>Do it again</h2>\n<pre>{escape(content.command)}</pre>\n"
        f'<p class="note">{escape(versions)}</p>'
    )


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)
