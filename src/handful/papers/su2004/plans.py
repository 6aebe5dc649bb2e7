"""The toy tables and Tables 4 to 6 of Su, Carpuat and Wu 2004, and the table of the parent paper, run again."""

from __future__ import annotations

from collections.abc import Sequence

from handful.core.errors import MissingDataError
from handful.core.records import Occurrence
from handful.papers.claims import Findings, Settings, load_paper
from handful.papers.su2004.scores import Answers, accuracies, branches, paired_test
from handful.papers.su2004.senseval import Senseval, read_senseval, train_tagger, unlabeled_contexts
from handful.papers.su2004.toy import measure_toy
from handful.senses import compare_methods, make_contexts

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
        from handful.papers.su2004.figures import draw_figures

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
