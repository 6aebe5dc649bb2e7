"""Named entities: the rows of Table 1, the points of Figure 3, and F1 over the amount of unlabeled text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from handful.data.records import Sentence
from papers.claims import Settings
from papers.suzuki2011.systems import AMOUNTS, COARSE, CURVE, CURVE_EVERY, FINE, RESOLUTIONS, Point, Task
from papers.suzuki2011.texts import read_clusters, read_names, read_news, size, train_tagger

_ROWS = {
    ("sup-l1", None): "sup",
    ("sup-l1", COARSE): "cofer-coarse",
    ("sup-l1", FINE): "cofer-fine",
    ("icwr-l1", None): "icwr",
    ("icwr-l1", COARSE): "both-coarse",
    ("icwr-l1", FINE): "both-fine",
}
_KEPT = {"sup-l1": "cofer-kept", "icwr-l1": "both-kept"}


def measure_names(settings: Settings) -> dict[str, float]:
    """Train and test every system of Table 1; with figures, also those of Figure 3.

    Parameters
    ----------
    settings : Settings
        As in `papers.suzuki2011.plans.run`.

    Returns
    -------
    dict of str to float
        Numbers by claim.
    """
    task = read_task(settings)
    news = read_news(train_tagger(task.train), n_tokens=200_000 if settings.quick else None, progress=settings.progress)
    if settings.figures is None:
        return claimed(measure_systems(task, news))
    from papers.suzuki2011.plans import draw_figures

    # drawn again after every base model, so that a run that is cut short leaves what it has
    return claimed(measure_systems(task, news, save=partial(draw_figures, settings.figures)))


def read_task(settings: Settings) -> Task:
    """Read CoNLL-2003 and the clusters; a quick run takes 2,000 training sentences."""
    return Task(
        read_names("train", 2_000 if settings.quick else None),
        read_names("testa"),
        read_names("testb"),
        read_clusters(capitals=True),
        quick=settings.quick,
        n_jobs=settings.n_jobs,
        progress=settings.progress,
    )


def measure_systems(
    task: Task, news: Sequence[Sentence], *, save: Callable[[Sequence[Point]], object] | None = None
) -> list[Point]:
    """Train and score the systems; the rows of Table 1 are scored on the test set as well.

    Parameters
    ----------
    task : Task
        Labeled data.
    news : sequence of Sentence
        Unlabeled text.
    save : callable, optional
        Given the points so far after every base model. With it the further points of the figures are measured too.

    Returns
    -------
    list of Point
        One for each model.
    """
    points: list[Point] = []
    everything = save is not None
    for name in ("sup-l1", "icwr-l1", "sup-l2", "icwr-l2") if everything else ("sup-l1", "icwr-l1"):
        model = task.base(name)
        points.append(task.score(model, name, None, 0, model.n_active_, test=(name, None) in _ROWS))
        curve = CURVE.get(name, ()) if everything else ()
        stops = [*_stops(news, AMOUNTS if curve else ()), len(news)]
        counted = task.count(name, model, news[: stops[0]])
        for before, stop in zip([0, *stops], stops, strict=False):
            if before:
                task.extend(counted, name, news[before:stop])
            n_tokens = size(news[:stop])
            points += [task.retrain(counted, name, r, n_tokens, every=CURVE_EVERY) for r in curve]
        for resolution in RESOLUTIONS[name[-2:]] if everything else (COARSE, FINE):
            tested = (name, resolution) in _ROWS
            points.append(task.retrain(counted, name, resolution, size(news), test=tested))
        if name in _KEPT:
            points.append(task.keep(counted, name, size(news)))
        if save is not None:
            save(points)
    return points


def claimed(points: Sequence[Point]) -> dict[str, float]:
    """Return the numbers of the claims.

    Parameters
    ----------
    points : sequence of Point
        What was measured.

    Returns
    -------
    dict of str to float
        Numbers by claim.
    """
    values: dict[str, float] = {}
    for point in points:
        row = _KEPT[point.base] if point.kept else _ROWS.get((point.base, point.resolution))
        if row is None or point.test is None:
            continue
        values |= {f"ner-{row}-dev": point.dev, f"ner-{row}-test": point.test, f"ner-{row}-active": point.active}
    values["ner-cofer-over-sup"] = values["ner-cofer-coarse-test"] - values["ner-sup-test"]
    values["ner-fine-over-sup"] = values["ner-cofer-fine-test"] - values["ner-sup-test"]
    values["ner-kept-over-sup"] = values["ner-cofer-kept-test"] - values["ner-sup-test"]
    values["ner-kept-over-icwr"] = values["ner-both-kept-test"] - values["ner-icwr-test"]
    values["ner-both-over-icwr"] = values["ner-both-coarse-test"] - values["ner-icwr-test"]
    values["ner-flat"] = values["ner-cofer-coarse-dev"] - values["ner-cofer-fine-dev"]
    return values


def _stops(news: Sequence[Sentence], amounts: Sequence[int]) -> list[int]:
    """Return how many sentences have at least each amount of tokens; amounts that are nearly all are left out."""
    stops: list[int] = []
    n_tokens, waiting = 0, list(amounts)
    for number, sentence in enumerate(news, start=1):
        n_tokens += len(sentence)
        if waiting and n_tokens >= waiting[0]:
            stops.append(number)
            waiting.pop(0)
    return [stop for stop in stops if stop < 0.9 * len(news)]
