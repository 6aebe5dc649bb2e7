"""What ``handful prototypes`` says about a list, for people to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from handful.cli.console import cell, console, say, visible
from handful.core.counted import counted

if TYPE_CHECKING:
    from rich.console import Console

    from handful.tagging.prototypes.coverage import Coverage
    from handful.tagging.prototypes.lists import Suggestions

_NOTHING_ALIKE = (
    "No word is like a prototype. Try --similarity place-roots, which needs less text, or give more text with "
    "--similarity-text."
)


def show_suggestions(suggestions: Suggestions) -> None:
    """Print words worth adding to a list, label by label."""
    table = _table("label", "words like its prototypes: similarity (tokens)")
    for label, near in suggestions.near.items():
        table.add_row(cell(label), cell("  ".join(f"{word} {share:.2f} ({n:,})" for word, share, n in near) or "-"))
    out = console()
    out.print(table)
    if not any(suggestions.near.values()):
        say(_NOTHING_ALIKE, stderr=True)
    _list(
        out, "No label covers these frequent words (tokens)", (f"{word} ({n:,})" for word, n in suggestions.uncovered)
    )


def show_coverage(coverage: Coverage, kind: str) -> None:
    """Print how far a list reaches and where it is weak; `kind` is that of similarity."""
    out = console()
    n_words = len({word for reach in coverage.labels for word, _ in reach.prototypes})
    out.print(
        f"{counted(coverage.n_tokens, 'token')}, {counted(len(coverage.labels), 'label')}, {counted(n_words, 'prototype')}",
        style="bold",
    )
    rest = max(0.0, 1 - coverage.prototype_share - coverage.linked_share)
    out.print(f"{coverage.prototype_share:6.1%} of the tokens are prototypes")
    out.print(
        f"{coverage.linked_share:6.1%} are like one (similarity {kind}), and linked to it if 'fit prototypes' takes that"
    )
    out.print(f"{rest:6.1%} are neither: only their neighbors and their spelling speak for a label\n")
    if not coverage.linked_share:
        say(_NOTHING_ALIKE, stderr=True)
    out.print(_reach_table(coverage))
    for title, lists in (("Not in the text", coverage.missing), ("Under several labels", coverage.ambiguous)):
        _list(out, title, (f"{key}: {' '.join(words)}" for key, words in lists.items()))
    _list(out, "Frequent words that no label covers (tokens)", (f"{word} ({n:,})" for word, n in coverage.uncovered))
    disputed = (
        f"{word}: {n:,} of {counted(total, 'token')} are {label}" for word, label, n, total in coverage.disputed
    )
    _list(out, "Prototypes that are mostly something else", disputed)
    if coverage.unsure:
        _show_unsure(out, coverage)


def _reach_table(coverage: Coverage) -> Table:
    table = _table(
        "label", "prototypes (tokens)", "prototypes %", "linked %", "most frequent linked words", right=(2, 3)
    )
    for reach in coverage.labels:
        table.add_row(
            cell(reach.label),
            cell("  ".join(f"{word} ({n:,})" for word, n in reach.prototypes)),
            f"{100 * reach.prototype_share:.1f}",
            f"{100 * reach.linked_share:.1f}",
            cell("  ".join(reach.like) or "-"),
        )
    return table


def _show_unsure(out: Console, coverage: Coverage) -> None:
    table = _table("unsure of", "tokens", "bits", "wavers between", right=(1, 2))
    for doubt in coverage.unsure:
        between = "  ".join(f"{label} {share:.0%}" for label, share in doubt.labels)
        table.add_row(cell(doubt.word), f"{doubt.count:,}", f"{doubt.bits:.1f}", cell(between))
    out.print()
    out.print(table)


def show_settings(trials: Sequence[Mapping[str, Any]]) -> None:
    """Print the settings that a tagger was chosen from, by how probable the label of hidden prototypes became."""
    if len(trials) < 2:
        return
    out = console()
    out.print("\nSettings tried, without labels: how probable the label of hidden prototypes became", style="bold")
    table = _table("probability %", "similarity", "threshold", "spelling", "sticky", right=(0, 2, 4))
    for trial in trials:
        spelling = "yes" if trial["spelling"] else "no"
        shown = f"{100 * trial['recovered']:.1f}", trial["similarity"], f"{trial['threshold']:g}", spelling
        table.add_row(*shown, f"{trial['sticky']:g}")
    out.print(table)


def show_mistakes(accuracy: float, confusions: Sequence[tuple[str, str, int, float]]) -> None:
    """Print the accuracy of a tagger and its most frequent mistakes."""
    out = console()
    out.print(f"\n{accuracy:.1%} of the tokens are tagged correctly", style="bold")
    table = _table("correct", "taken for", "tokens", "% of mistakes", right=(2, 3))
    for true, given, count, share in confusions:
        table.add_row(cell(true), cell(given), f"{count:,}", f"{100 * share:.1f}")
    if confusions:
        out.print(table)


def show_boundaries(n_tokens: int, boundary: str) -> None:
    """Print how many tokens were left out of the accuracy, since their correct label is that of marks between fields."""
    say(
        f"Not counted: {n_tokens:,} whose correct label is {boundary}; a mark is given the label of the field before it."
    )


def _table(*heads: str, right: Sequence[int] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, head in enumerate(heads):
        table.add_column(head, justify="right" if number in right else "left", overflow="fold")
    return table


def _list(out: Console, title: str, entries: Iterable[str]) -> None:
    told = list(entries)
    if told:
        out.print()
        out.print(Text(f"{title}: ", style="bold").append(visible("   ".join(told)), style="not bold"))
