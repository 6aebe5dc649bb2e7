"""Table 1 and Figure 3 of Suzuki, Isozaki and Nagata 2011, run again, and a text classifier beside them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from handful.core.errors import MissingDataError
from handful.papers.claims import Findings, Settings, load_paper
from handful.papers.suzuki2011.ner import measure_names
from handful.papers.suzuki2011.parsing import SAMPLE_BECAUSE, WHOLE_BECAUSE, measure_trees, whole_treebank
from handful.papers.suzuki2011.sources import measure_sources, read_sources


def run(settings: Settings) -> Findings:
    """Measure every claim of ``paper.toml``.

    Parameters
    ----------
    settings : Settings
        ``quick`` takes few training sentences and little news; ``n_jobs`` is the number of threads. Nothing is
        random, so ``seeds`` has no effect. With ``figures`` the points of Figure 3 and the curve over the amount of
        unlabeled text are measured as well, which takes three times as long.

    Returns
    -------
    Findings
        Numbers by claim.
    """
    values: dict[str, float] = {}
    not_run: dict[str, str] = {}
    claims = load_paper("suzuki2011").claims
    whole = whole_treebank()
    for task, measure in MEASURES.items():
        try:
            name = f"{task}, whole treebank" if whole and task == "parsing" else task
            values |= settings.kept(f"suzuki2011 {name}", partial(measure, settings))
        except MissingDataError as error:
            not_run |= {claim.id: str(error) for claim in claims if claim.id.startswith(f"{task}-")}
    because = {claim.id: claim.because.replace(SAMPLE_BECAUSE, WHOLE_BECAUSE) for claim in claims if whole}
    return Findings(values, not_run, because)


def _sources(settings: Settings) -> dict[str, float]:
    return measure_sources(read_sources(n_unlabeled=1_000, n_test=500) if settings.quick else read_sources())


# By the first word of their claims; a task that lacks its data leaves the others alone.
MEASURES: dict[str, Callable[[Settings], dict[str, float]]] = {
    "ner": measure_names,
    "parsing": measure_trees,
    "sources": _sources,
}
