"""The README of a paper's folder, made from its claims and our pinned numbers."""

from __future__ import annotations

from collections.abc import Mapping

from handful.papers.claims import Outcome, Paper


def render_readme(paper: Paper, because: Mapping[str, str] | None = None) -> str:
    """Return the README as Markdown.

    Parameters
    ----------
    paper : Paper
        Claims and pinned numbers.
    because : mapping of str to str, optional
        Why numbers differ from print, by claim, where it is not what ``paper.toml`` says.

    Returns
    -------
    str
        Title, notes and the table of claims.
    """
    outcomes = [
        Outcome(claim, paper.measured.get(claim.id), (because or {}).get(claim.id, claim.because))
        for claim in paper.claims
    ]
    lines = [
        f"# {paper.title}",
        "",
        f"{paper.authors}, {paper.year}. Rerun with `handful paper {paper.key}`; this page is made from `paper.toml` and",
        f"`measured.json` by `handful paper {paper.key} --pin`.",
        "",
        paper.notes.strip(),
        "",
        "| claim | metric | paper | ours | state | because |",
        "|---|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        claim = outcome.claim
        bound = ">= " if claim.rule == "at least" else ""
        ours = "-" if outcome.ours is None else f"{outcome.ours:.4g}"
        cells = (claim.says, claim.metric, f"{bound}{claim.paper:.4g}", ours, outcome.state, outcome.because)
        lines.append("| " + " | ".join(cell.replace("|", "/") for cell in cells) + " |")
    return "\n".join(lines) + "\n"
