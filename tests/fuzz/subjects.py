"""Small fitted models of every class that can be stored, and how each is asked."""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.base import BaseEstimator

TESTS = Path(__file__).parents[1]
sys.path.insert(0, str(TESTS / "models"))
from asking import answers_of, inputs_of  # noqa: E402

import handful  # noqa: E402
from handful.active.query import ActiveLearner  # noqa: E402
from handful.active.sentences import suggest_sentences  # noqa: E402
from handful.data.records import Sentence  # noqa: E402
from handful.errors import ParameterError  # noqa: E402
from handful.models.explain import explain_tags  # noqa: E402
from handful.models.inspection import facts_of as inspected  # noqa: E402
from handful.models.table_model import TableModel  # noqa: E402
from handful.persistence.model_file import Storable  # noqa: E402
from handful.persistence.schema import is_fitted  # noqa: E402
from handful.registry import all_methods  # noqa: E402
from handful.report.model_page import export_html  # noqa: E402
from handful.tagging.base import Tagger  # noqa: E402

Ask = Callable[[Any], Any]
QUICK = {"ensemble": {"n_trees": 3}, "extra-trees": {"n_estimators": 4}, "random-forest": {"n_estimators": 4}}


def subjects() -> dict[str, tuple[Any, Ask]]:
    """Return models by name, with what to ask them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = {**stored(), **tables(), **texts(), **others()}
        models |= taggers(set().union(*(classes_in(model) for model, _ in models.values())))
        return {name: (model, partial(as_commands_use, ask)) for name, (model, ask) in models.items()}


def as_commands_use(ask: Ask, model: Any) -> None:
    """Predict, then inspect, explain, choose rows or sentences, and export, as commands do."""
    ask(model)
    inspected(model)
    if isinstance(model, TableModel):
        rows = rows_for(tuple(model.feature_names_in_.tolist()))
        if rows is not None:
            model.explain(rows[:1])
            learner = learner_of(rows)
            learner.model = model
            learner.label(0, learner.labels[0])  # forgets what the model before predicted
            learner.next(2)
        with contextlib.suppress(ParameterError):  # a page cannot compute every model
            export_html(model)
    elif isinstance(model, Tagger):
        words = Sentence(("the", "dog", "barks"), {"pos": ("DT", "NN", "VB")})
        if hasattr(model, "explain"):
            model.explain(words)
        else:
            explain_tags(model, words)
        if hasattr(model, "predict_with_proba"):
            suggest_sentences([words, Sentence(("a", "cat"), {"pos": ("DT", "NN")})], model, n=2)


@cache
def rows_for(columns: tuple[str, ...]) -> pl.DataFrame | None:
    """Return rows with some columns, or None where no command would have them."""
    for rows in (
        frame()[0],
        pl.DataFrame({"text": ["the dog", "a boat", "salt and fur", "a wave"]}),
        pl.DataFrame({name: ["1", "2", "3", "1"] for name in columns[:50]}),
    ):
        if set(columns) <= set(rows.columns):
            return rows
    return None


LEARNERS: dict[int, ActiveLearner] = {}


def learner_of(rows: pl.DataFrame) -> ActiveLearner:
    """Return what chooses among rows of which the first two have labels."""
    if id(rows) not in LEARNERS:
        LEARNERS[id(rows)] = ActiveLearner(rows, ["ash", "elm"] + [None] * (len(rows) - 2))
    return LEARNERS[id(rows)]


def classes_in(model: Any) -> set[str]:
    """Return the names of the classes, ours and scikit-learn's, of a model and of all models inside it."""
    found, todo, seen = set(), [model], set()
    while todo:
        value = todo.pop()
        if id(value) in seen or isinstance(value, str | int | float):
            continue
        seen.add(id(value))
        if isinstance(value, Storable) or (isinstance(value, BaseEstimator) and is_fitted(vars(value))):
            found.add(type(value).__name__)
        if isinstance(value, list | tuple):
            todo += value
        else:
            todo += (value if isinstance(value, dict) else getattr(value, "__dict__", {})).values()
    return found


def shares(models: Iterable[tuple[str, Any]]) -> dict[str, float]:
    """Return which share of the files of a class each model has, so that together they are enough for each of its classes."""
    classes = {name: classes_in(model) for name, model in models}
    n_models = Counter(name for inside in classes.values() for name in inside)
    return {name: max(1 / n_models[inside] for inside in classes[name]) for name in classes}


def stored() -> dict[str, tuple[Any, Ask]]:
    """Return the models of the files of earlier versions."""
    found = {}
    for path in sorted((TESTS / "models").glob("*/*.handful")):
        inputs = inputs_of(json.loads((path.parent / "expected.json").read_text(encoding="utf-8"))["inputs"])
        name = path.stem
        if name.startswith("feature-counts"):
            from handful.representations.counts import FeatureCounts

            model = FeatureCounts.load(path)
        else:
            model = handful.load(path)
        found[name] = (model, lambda model, name=name, inputs=inputs: answers_of(name, model, inputs))
    return found


def frame() -> tuple[pl.DataFrame, list[str | None]]:
    rng = np.random.default_rng(3)
    y = np.arange(24) % 3
    X = rng.normal(size=(24, 3)) + 2 * y[:, None]
    colors = [["red", "blue", None][i % 3] for i in range(24)]
    rows = pl.DataFrame({"size": X[:, 0], "weight": X[:, 1], "tall": X[:, 2], "color": colors})
    return rows, [["ash", "elm", "oak"][i] if place < 14 else None for place, i in enumerate(y)]


def tables() -> dict[str, tuple[Any, Ask]]:
    """Return every method for tables, in a model of a table."""
    rows, labels = frame()
    found: dict[str, tuple[Any, Ask]] = {}
    for spec in all_methods("table"):
        model = TableModel(spec.name, params=QUICK.get(spec.name)).fit(rows, labels)
        found[f"rows of {spec.name}"] = (model, lambda model: model.predict_with_confidence(rows))
    return found


def texts() -> dict[str, tuple[Any, Ask]]:
    """Return models of texts: enough of them for directions of words."""
    words = {"pet": ["dog", "cat", "fur", "paw"], "sea": ["boat", "wave", "salt", "sail"]}
    rng = np.random.default_rng(5)
    names = ["pet", "sea"] * 30
    cells = [" ".join([*rng.choice(words[name], 4), "the"]) for name in names]
    rows = pl.DataFrame({"text": cells})
    labels = [name if i < 12 else None for i, name in enumerate(names)]
    found: dict[str, tuple[Any, Ask]] = {}
    for name in ("ensemble", "complement-nb", "logistic-regression"):
        model = TableModel(name, kinds={"text": "text"}, params=QUICK.get(name)).fit(rows, labels)
        found[f"text by {name}"] = (model, lambda model: model.predict_with_confidence(rows[:10]))
    return found


def taggers(known: set[str]) -> dict[str, tuple[Any, Ask]]:
    """Return a tagger of each spec whose class no other model has."""
    from handful.tagging.recipes import TaggerSetup

    words, tags = [["a", "dog", "barks"], ["the", "cat", "sleeps"]], [["D", "N", "V"], ["D", "N", "V"]]
    setup = TaggerSetup("general", max_iter=3, n_jobs=1)
    return {
        spec.name: (spec.train(setup, words * 5, tags * 5, words * 5), lambda model: model.predict(words))
        for spec in all_methods("sentences")
        if spec.train is not None and spec.cls is not None and spec.cls.__name__ not in known
    }


def others() -> dict[str, tuple[Any, Ask]]:
    """Return what neither files nor tables show."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import BernoulliNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.svm import LinearSVC

    from handful.comparison.fit import fit_with_witnesses
    from handful.data.table import as_table
    from handful.models.condensed_rows import CondensedModel
    from handful.neighbors.tri_training import TriTraining
    from handful.tagging.crf import CRF
    from handful.tagging.prototypes.ensemble import PrototypeEnsemble

    rng = np.random.default_rng(7)
    X = rng.normal(size=(20, 3)) + 2 * (np.arange(20) % 2)[:, None]
    y = np.array([["no", "yes"][i % 2] if i < 12 else None for i in range(20)], dtype=object)
    found: dict[str, tuple[Any, Ask]] = {
        f"three of {type(base).__name__}": (TriTraining(base, random_state=0).fit(X, y), lambda model: model.predict(X))
        for base in (BernoulliNB(), KNeighborsClassifier(3), LinearSVC(), SGDClassifier())
    }
    words = [["a", "dog", "barks"], ["the", "cat", "sleeps"]]
    lists = {"D": ["a", "the"], "N": ["dog", "cat"]}
    team = PrototypeEnsemble(lists, similarity="none", max_iter=3).fit(words * 5)
    paths = {"path": {"dog": "01", "DOG": "01", "cat": "01", "CAT": "01", "barks": "10", "BARKS": "10", "a": "11"}}
    tagger = CRF(["word[0]", "path[0]"], lookups=paths, max_iter=3).fit(words, [["D", "N", "V"]] * 2)
    found["hashed-table"] = (tagger.with_small_lookups(), lambda model: model.predict(words))
    found["prototype-ensemble"] = (team, lambda model: model.predict(words))
    rows, labels = frame()
    truth = [["ash", "elm", "oak"][i % 3] for i in range(len(labels))]
    guesses = [name if i % 5 else "elm" for i, name in enumerate(truth)]
    told = as_table(rows.with_columns(llm=pl.Series(guesses), kind=pl.Series(labels)), "kind")
    witnessed, _ = fit_with_witnesses(told, ["llm"])
    found["witness-ensemble"] = (witnessed, lambda model: model.predict_with_confidence(rows))
    small = CondensedModel(5).fit(rows, truth)
    found["condensed-rows"] = (
        small,
        lambda model: (model.predict_with_confidence(rows), model.explain(rows[:1]), model.rows()),
    )
    return found
