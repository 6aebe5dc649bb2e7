"""The data of Su, Carpuat and Wu 2004: Senseval-2, a tagger for its features, and unlabeled contexts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from handful.data.records import Occurrence
from handful.errors import MissingDataError, Progress, require
from handful.senses.features import make_contexts
from handful.senses.harvesting import harvest
from handful.tagging.crf import CRF
from papers.claims import Findings, Settings, load_paper, save_picture
from papers.corpora import load
from papers.significance import mcnemar
from papers.su2004.methods import MethodAnswers, compare_methods, largest_words
from papers.toy import TOY_CLASSES, TOY_FEATURES, TOY_NEW, TOY_NEW_CLASS, TOY_ROWS, ToyTable, toy_table

QUICK_WORDS = ("art.n", "bar.n", "collaborate.v", "drift.v", "ferret.v", "natural.a", "spade.n", "wash.v")
TEXTS = ("brown-pos", "unlabeled-news-bbc", "unlabeled-news-abc", "unlabeled-news-reuters21578")
QUICK_TEXTS = ("unlabeled-news-bbc",)


class Senseval(NamedTuple):
    """The English lexical sample: training and test instances, and the map to coarse senses."""

    train: list[Occurrence]
    test: list[Occurrence]
    coarse: Mapping[str, str]

    @property
    def words(self) -> list[str]:
        """All target words, sorted."""
        return sorted({o.word for o in self.train})

    def groups(self) -> dict[str, list[str]]:
        """Return the words that are scored together: 16 verbs with the most training instances, all verbs, all words."""
        return {
            "largest-verbs": largest_words(self.train, "v", 16),
            "verbs": [word for word in self.words if word.endswith(".v")],
            "words": self.words,
        }


def read_senseval(*, quick: bool = False) -> Senseval:
    """Read Senseval-2 from the data folder; a quick run takes eight words.

    Parameters
    ----------
    quick : bool
        Whether to take `QUICK_WORDS` only.

    Returns
    -------
    Senseval
        Training and test instances.
    """
    train, test = (
        [o for o in load(f"senseval2-{part}") if not quick or o.word in QUICK_WORDS] for part in ("train", "test")
    )
    return Senseval(train, test, load("senseval2-sensemap"))


def train_tagger(*, quick: bool = False) -> CRF:
    """Train the part-of-speech tagger of the context features on CoNLL-2000; a quick run takes 2,000 sentences.

    Parameters
    ----------
    quick : bool
        Whether to take fewer sentences.

    Returns
    -------
    CRF
        A fitted tagger.
    """
    sentences = list(load("conll2000-chunk-train"))[: 2_000 if quick else None]
    return CRF(algorithm="pa", max_iter=8).fit([s.tokens for s in sentences], [s["pos"] for s in sentences])


def unlabeled_contexts(
    data: Senseval, tagger: CRF, *, quick: bool = False, progress: Progress | None = None
) -> list[Occurrence]:
    """Collect up to 1,500 unlabeled contexts of each word from Brown and news; a quick run up to 200 from one collection.

    Parameters
    ----------
    data : Senseval
        Its words are looked for, its contexts are not collected again.
    tagger : CRF
        Function that returns the part of speech.
    quick : bool
        Whether to read less.
    progress : callable or None
        Called with the number of sentences read.

    Returns
    -------
    list of Occurrence
        Contexts by word.
    """
    text = chain.from_iterable(load(name) for name in (QUICK_TEXTS if quick else TEXTS))
    return harvest(
        text,
        data.words,
        tagger=tagger.predict,
        exclude=[*data.train, *data.test],
        before=3,  # Senseval contexts hold a few sentences before that of the word
        limit=200 if quick else 1_500,
        progress=progress,
    )


Answers = Mapping[str, MethodAnswers]


def accuracies(answers: Answers, data: Senseval, words: Sequence[str]) -> dict[str, float]:
    """Return the accuracy in percent of each method on some words, as ``"fine-METHOD"`` and ``"coarse-METHOD"``.

    Parameters
    ----------
    answers : mapping of str to MethodAnswers
        What the methods answered.
    data : Senseval
        Holds the key and the map to coarse senses.
    words : sequence of str
        The words.

    Returns
    -------
    dict of str to float
        Correct answers among all test instances, in percent.
    """
    return {
        f"{kind}-{method}": 100 * one.score(data.test, words, sense_map).recall
        for kind, sense_map in (("fine", None), ("coarse", data.coarse))
        for method, one in answers.items()
    }


def paired_test(answers: Answers, data: Senseval, words: Sequence[str], first: str, second: str) -> float:
    """Return the p-value of McNemar's test between two methods, scored finely.

    Parameters
    ----------
    answers, data, words
        As in `accuracies`.
    first, second : str
        The methods.

    Returns
    -------
    float
        Two-sided, exact.
    """
    right = [np.array(list(answers[name].score(data.test, words).credits.values())) > 0 for name in (first, second)]
    return float(mcnemar(*right))


def branches(answers: Answers, data: Senseval, words: Sequence[str]) -> dict[str, float]:
    """Return the counterparts of Tables 5 and 6: both models where the supervised one is trusted, and where it is not.

    Parameters
    ----------
    answers, data, words
        As in `accuracies`; `answers` holds the composite and its two branches.

    Returns
    -------
    dict of str to float
        ``"fallbacks"`` is the share of test instances, in percent, that the semi-supervised branch answers; accuracies
        are named such as ``"doubted-fine-kernel-pca"`` and are missing where a part is empty; ``"changed"``,
        ``"better"`` and ``"worse"`` count the answers in which the composite differs from the supervised model.
    """
    sources = answers["composite-kernel-pca"].sources
    chosen = [o for o in data.test if o.word in set(words)]
    doubted = [o for o in chosen if sources.get(o.id) == "semi-supervised"]
    trusted = [o for o in chosen if sources.get(o.id) != "semi-supervised"]
    old, new = answers["kernel-pca"].answers, answers["composite-kernel-pca"].answers
    changed = [o for o in doubted if old[o.id] != new[o.id]]
    table: dict[str, float] = {
        "fallbacks": 100 * len(doubted) / len(chosen),
        "changed": len(changed),
        "better": sum(new[o.id] in o.senses for o in changed),
        "worse": sum(old[o.id] in o.senses for o in changed),
    }
    for where, part in (("trusted", trusted), ("doubted", doubted)):
        table |= _of_part(where, part, answers, data, words)
    return table


def _of_part(
    where: str, part: list[Occurrence], answers: Answers, data: Senseval, words: Sequence[str]
) -> dict[str, float]:
    """Return the accuracies of both models on a part of the test instances; none if it is empty."""
    if not part:
        return {}
    models = {name: answers[name] for name in ("kernel-pca", "semi-supervised-kernel-pca")}
    scores = accuracies(models, data._replace(test=part), words)
    return {f"{where}-{name}": value for name, value in scores.items()}


# Table 2, by degree: PCA is degree 1, kernel PCA degree 2. Rows of contexts 1 to 4; 5 to 7 repeat 4, 8 repeats 1.
PRINTED = {
    1: np.array(
        [[-1.961, 0.2829, 0.2014], [1.675, -1.132, 0.1049], [-0.367, 1.697, -0.2391], [-1.675, -1.132, -0.1049]]
    ),
    2: np.array(
        [[0.2801, -1.005, -0.06861], [1.149, 0.02934, 0.322], [0.8209, 0.7722, -0.2015], [-1.774, -0.1216, 0.03258]]
    ),
}
# Table 3: the new context.
PRINTED_NEW = {1: np.array([-0.3671, -0.5658, -0.2392]), 2: np.array([4e-06, 8e-07, 1.111e-18])}
NAMES = {1: "pca", 2: "kpca"}


def measure_toy() -> dict[str, float]:
    """Measure the claims on the toy example; they need no data.

    Returns
    -------
    dict of str to float
        Numbers by claim.

    Examples
    --------
    >>> found = measure_toy()
    >>> found["toy-class-pca"], found["toy-class-kpca"], found["toy-table2-kpca"]
    (2.0, 1.0, 0.0)
    """
    values: dict[str, float] = {}
    for degree, name in NAMES.items():
        values[f"toy-table2-{name}"] = off_by(turned(degree)[0][:4], PRINTED[degree])
        values[f"toy-class-{name}"] = float(toy_table(degree).answer)
    values["toy-table3-pca"] = off_by(turned(1)[1], PRINTED_NEW[1])
    values["toy-table3-kpca"] = float(np.abs(turned(2)[1] - PRINTED_NEW[2]).max())
    values["toy-lead-as-printed"] = lead(toy_table(2))
    values["toy-lead-as-defined"] = lead(toy_table(2, as_printed=False))
    return values


def turned(degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training contexts and the new one in the new space, with the signs of the printed table.

    Examples
    --------
    >>> turned(1)[1].round(4).tolist()
    [-0.3671, -0.5658, -0.2392]
    """
    table = toy_table(degree)
    signs = np.sign((table.projected[:4] * PRINTED[degree]).sum(axis=0))  # the sign of a component is free
    return table.projected * signs, table.new * signs


def off_by(computed: np.ndarray, printed: np.ndarray) -> float:
    """Return the largest deviation in units of the fourth significant digit, after rounding to four.

    Examples
    --------
    >>> off_by(np.array([1.67458, -0.36702]), np.array([1.675, -0.368]))
    10.0
    """
    unit = 10.0 ** (np.floor(np.log10(np.abs(computed))) - 3)
    return float(np.round(np.abs(np.round(computed / unit) - printed / unit), 3).max())


def lead(table: ToyTable) -> float:
    """Return how much nearer the new context is to class 1 than to class 2.

    Examples
    --------
    >>> round(lead(toy_table(2)), 4)
    0.7324
    """
    return float(table.distances[3] - table.distances[:3].min())


_COLORS = {1: "#0072b2", 2: "#d55e00"}
# Contexts with the same features are one point.
_POINTS = ((0, "1, 8"), (1, "2"), (2, "3"), (3, "4 to 7"))


def draw_figures(folder: Path) -> list[Path]:
    """Write Tables 1 to 3, Figure 1 and the distances of the new context into a folder.

    Parameters
    ----------
    folder : Path
        An existing folder.

    Returns
    -------
    list of Path
        The files written.
    """
    require("matplotlib", extra="plots", why="python -m papers KEY --figures").use("Agg")
    return [
        _table_one(folder / "table1.svg"),
        _table_two(folder / "table2.svg"),
        _table_three(folder / "table3.svg"),
        _figure_one(folder / "figure1.svg"),
        _distances(folder / "distances.svg"),
    ]


def _table_one(path: Path) -> Path:
    rows = [*TOY_ROWS, TOY_NEW[0]]
    classes = [*TOY_CLASSES, TOY_NEW_CLASS]
    names = [*(f"x{t}" for t in range(1, 9)), "x9 (new)"]
    cells = [
        [name, *("1" if mark else "" for mark in row), str(label)]
        for name, row, label in zip(names, rows, classes, strict=True)
    ]
    return _draw_table(
        path, ["context", *TOY_FEATURES, "class"], cells, "Table 1: contexts of “art” and their features"
    )


def _table_two(path: Path) -> Path:
    linear, kernel = (turned(degree)[0] for degree in (1, 2))
    cells = [
        [str(t + 1), _vector(TOY_ROWS[t, :3]), _vector(linear[t]), _vector(kernel[t]), str(TOY_CLASSES[t])]
        for t in range(8)
    ]
    return _draw_table(path, ["t", "observed", "PCA", "kernel PCA", "class"], cells, "Table 2: training contexts")


def _table_three(path: Path) -> Path:
    cells = []
    for degree, name in ((1, "PCA"), (2, "kernel PCA")):
        answer = toy_table(degree).answer
        cells.append([name, _vector(TOY_NEW[0, :3]), _vector(turned(degree)[1]), str(answer), str(TOY_NEW_CLASS)])
    heads = ["model", "observed", "transformed", "predicted class", "correct class"]
    return _draw_table(path, heads, cells, "Table 3: the new context")


def _figure_one(path: Path) -> Path:
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 4.2))
    titles = ("(a) observed vectors", "(b) first principal axis", "(c) in order of the first kernel component")
    panels = [figure.add_subplot(1, 3, n, projection="3d") for n in (1, 2, 3)]
    for axis, title in zip(panels, titles, strict=True):
        _scatter(axis)
        axis.set_title(title, fontsize=10)
    # (b) the axis of linear PCA, cut to the three dimensions shown, and the feet of the points on it
    centre = TOY_ROWS.mean(axis=0)
    direction = np.linalg.svd(TOY_ROWS - centre)[2][0]
    points = np.vstack([TOY_ROWS[:4], TOY_NEW])
    feet = centre + np.outer((points - centre) @ direction, direction)
    panels[1].plot(*feet[np.argsort(feet @ direction)][:, :3].T, color="black", linewidth=1)
    for pair in zip(points, feet, strict=True):
        panels[1].plot(*np.array(pair)[:, :3].T, color="gray", linestyle=":", linewidth=1)
    # (c) there is no axis to draw: a line through the points, in the order of their first component
    projected, new = turned(2)
    order = np.argsort([*projected[:4, 0], new[0]])
    panels[2].plot(*points[order][:, :3].T, color="black", linewidth=1)
    return save_picture(figure, path, bbox_inches="tight")


def _distances(path: Path) -> Path:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(8, 3.2), sharey=True, layout="constrained")
    for axis, as_printed, title in (
        (axes[0], True, "recipe of the printed tables"),
        (axes[1], False, "as the text defines it"),
    ):
        distances = toy_table(2, as_printed=as_printed).distances
        for row, name in _POINTS:
            axis.bar(name, distances[row], color=_COLORS[int(TOY_CLASSES[row])])
        axis.set_title(f"kernel PCA, {title}", fontsize=10)
        axis.set_xlabel("training context (blue: class 1, orange: class 2)")
    axes[0].set_ylabel("distance of the new context")
    return save_picture(figure, path, bbox_inches="tight")


def _vector(values: Sequence[float] | np.ndarray) -> str:
    return "(" + ", ".join(f"{value + 0.0:.4g}" for value in values) + ")"


def _scatter(axis: Any) -> None:
    for row, name in _POINTS:
        x, y, z = TOY_ROWS[row, :3]
        axis.scatter(x, y, z, color=_COLORS[int(TOY_CLASSES[row])], s=40)
        axis.text(x, y, z, f"  {name}", fontsize=8)
    axis.scatter(*TOY_NEW[0, :3], color="black", marker="x", s=40)
    axis.text(*TOY_NEW[0, :3], "  9 (new)", fontsize=8)
    for set_label, name in zip((axis.set_xlabel, axis.set_ylabel, axis.set_zlabel), TOY_FEATURES, strict=False):
        set_label(name, fontsize=8)
    for set_ticks in (axis.set_xticks, axis.set_yticks, axis.set_zticks):
        set_ticks([0, 1])
    axis.set(xlim=(-0.2, 1.2), ylim=(-0.2, 1.2), zlim=(-0.2, 1.2))


def _draw_table(path: Path, heads: Sequence[str], cells: Sequence[Sequence[str]], title: str) -> Path:
    import matplotlib.pyplot as plt

    widths = np.array([max(len(row[i]) for row in (heads, *cells)) + 3 for i in range(len(heads))], dtype=float)
    figure, axis = plt.subplots(figsize=(0.085 * widths.sum() + 0.4, 0.3 * (len(cells) + 1) + 0.6))
    axis.axis("off")
    axis.set_title(title, fontsize=10)
    drawn = axis.table(cells, colLabels=heads, cellLoc="center", loc="center", colWidths=widths / widths.sum())
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(9)
    drawn.scale(1, 1.4)
    return save_picture(figure, path, bbox_inches="tight")


_MARKS = ("P", "U")  # proper names and unassignable instances: answers, but no senses
RIVALS = ("naive-bayes", "maximum-entropy", "linear-svm")


def run(settings: Settings) -> Findings:
    """Measure every claim of ``paper.toml``.

    Parameters
    ----------
    settings : Settings
        ``quick`` takes eight words and a small harvest; ``n_jobs`` is the number of processes. Nothing is random, so
        ``seeds`` has no effect.

    Returns
    -------
    Findings
        Numbers by claim.
    """
    values = measure_toy()
    not_run: dict[str, str] = {}
    if settings.figures is not None:
        draw_figures(settings.figures)
    try:
        values |= settings.kept("su2004 senseval", lambda: measure_senseval(settings))
    except MissingDataError as error:
        not_run = {c.id: str(error) for c in load_paper("su2004").claims if c.id not in values}
    return Findings(values, not_run)


def measure_senseval(settings: Settings) -> dict[str, float]:
    """Train every method on every word and measure the claims on Senseval-2.

    Parameters
    ----------
    settings : Settings
        As in `run`.

    Returns
    -------
    dict of str to float
        Numbers by claim.
    """
    data = read_senseval(quick=settings.quick)
    tagger = train_tagger(quick=settings.quick)
    unlabeled = unlabeled_contexts(data, tagger, quick=settings.quick, progress=settings.progress)
    ready = [make_contexts(part, tagger.predict) for part in (data.train, data.test, unlabeled)]
    answers = compare_methods(*ready, n_jobs=settings.n_jobs, progress=settings.progress)
    values = _about(data, unlabeled, data.groups()["largest-verbs"])
    for group, words in data.groups().items():
        values |= _group(answers, data, group, words)
    return values


def _about(data: Senseval, unlabeled: Sequence[Occurrence], words: Sequence[str]) -> dict[str, float]:
    """Describe a group of words as the paper describes its verbs."""
    train = [o for o in data.train if o.word in set(words)]
    more = [o for o in unlabeled if o.word in set(words)]
    senses = {(o.word, sense) for o in train for sense in o.senses if sense not in _MARKS}
    return {
        "largest-verbs-instances": len(train) / len(words),
        "largest-verbs-senses": len(senses) / len(words),
        "largest-verbs-contexts": (len(train) + len(more)) / len(words),
    }


def _group(answers: Answers, data: Senseval, group: str, words: Sequence[str]) -> dict[str, float]:
    values = accuracies(answers, data, words) | branches(answers, data, words)
    for kind in ("fine", "coarse"):
        ours = values[f"{kind}-kernel-pca"]
        values |= {f"{kind}-over-{rival}": ours - values[f"{kind}-{rival}"] for rival in RIVALS}
        values[f"{kind}-composite-gain"] = values[f"{kind}-composite-kernel-pca"] - ours
        for where, sign in (("trusted", 1), ("doubted", -1)):  # the supervised model leads here, the other one there
            if f"{where}-{kind}-kernel-pca" in values:
                both = values[f"{where}-{kind}-kernel-pca"], values[f"{where}-{kind}-semi-supervised-kernel-pca"]
                values[f"{where}-{kind}-lead"] = sign * (both[0] - both[1])
    for rival in RIVALS:
        leads = values[f"fine-over-{rival}"] > 0
        values[f"surely-over-{rival}"] = 100 * (1 - paired_test(answers, data, words, "kernel-pca", rival)) * leads
    return {f"{group}-{name}": value for name, value in values.items()}
