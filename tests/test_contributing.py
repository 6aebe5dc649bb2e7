"""The examples of CONTRIBUTING.md are added as it says: one file and one line each."""

from __future__ import annotations

import doctest
import importlib.util
import json
import re
import sys
from contextlib import suppress
from pathlib import Path
from unittest import SkipTest

import numpy as np
import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

import handful
from handful.active import strategies
from handful.cli import main
from handful.comparison.corpora import TaggerExperiment, corpus_splits
from handful.comparison.trials import Trial
from handful.data import formats as detection
from handful.data.formats import format_named, format_of
from handful.data.tagged import read_tagged
from handful.models.table_model import TableModel
from handful.registry import METHODS, unregister
from handful.senses.classifier import SenseClassifier
from papers.generated_english import make_sense_contexts, make_tagged_sentences

PAGE = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = {block.split("\n", 1)[0].removeprefix("# "): block for block in re.findall(r"```python\n(.*?)```", PAGE, re.S)}
LINES = dict(re.findall(r'`"([\w-]+)": "(handful[\w.]+)",`', PAGE))


@pytest.fixture
def joined(monkeypatch, tmp_path):
    """Return a function that lets the file of an example join, and gives its module."""
    names = []

    def join(path):
        module = path.removeprefix("src/").removesuffix(".py").replace("/", ".")
        file = tmp_path / Path(path).name
        file.write_text(BLOCKS[path], encoding="utf-8")
        spec = importlib.util.spec_from_file_location(module, file)
        loaded = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, module, loaded)
        spec.loader.exec_module(loaded)
        assert doctest.testmod(loaded).failed == 0
        return loaded

    def method(takes, name):
        module = LINES[name]
        monkeypatch.setitem(METHODS[takes], name, module)
        names.append(name)
        return join(f"src/{module.replace('.', '/')}.py")

    yield join, method
    for name in names:
        unregister(name)


@pytest.mark.filterwarnings("ignore")
def test_a_table_method(joined, tmp_path, capsys):
    cls = joined[1]("table", "nearest-mean").NearestMean
    for estimator, check in estimator_checks_generator(cls()):
        if check.func.__name__ != "check_classifiers_classes":  # -1 marks an unlabeled row here
            with suppress(SkipTest):
                check(estimator)
    X = np.array([[0.0], [1.0], [8.0], [9.0]])
    model = TableModel("nearest-mean").fit(X, ["low", None, None, "high"])
    handful.save(model, tmp_path / "model.handful")
    assert handful.load(tmp_path / "model.handful").predict(X).tolist() == ["low", "low", "high", "high"]
    with pytest.raises(SystemExit) as done:
        main(["methods"])
    assert done.value.code == 0
    assert "nearest-mean" in capsys.readouterr().out


def test_a_tagger(joined, tmp_path):
    cls = joined[1]("sentences", "last-letters").LastLetters
    made = make_tagged_sentences(60, random_state=3)
    sentences, tags = [m.sentence.tokens for m in made], [m.sentence["pos"] for m in made]
    rows = [
        "".join(f"{word}\t{tag}\n" for word, tag in zip(*pair, strict=True))
        for pair in zip(sentences, tags, strict=True)
    ]
    (tmp_path / "tagged.tsv").write_text("\n".join(rows), encoding="utf-8")
    splits = corpus_splits(40, 60, 0, "sentences")
    experiment = TaggerExperiment("made", read_tagged(tmp_path / "tagged.tsv"), (), splits, "general", 0)
    assert "last-letters" in {line.method for line in experiment.lines(["last-letters"])}
    outcome = experiment.run(Trial("last-letters", False, 0, 40))
    assert outcome.error is None
    assert outcome.score > 0.5
    model = cls().fit(sentences, tags)
    handful.save(model, tmp_path / "model.handful")
    assert handful.load(tmp_path / "model.handful").predict([["running"]]) == model.predict([["running"]])


def test_a_model_of_word_senses(joined, tmp_path):
    joined[1]("occurrences", "ridge")
    made = make_sense_contexts({"bank.n": 2}, n_labeled=200, n_unlabeled=0, random_state=0)
    contexts = [context for context in made if context.senses]
    model = SenseClassifier("ridge", n_jobs=1).fit(contexts[::2])
    handful.save(model, tmp_path / "model.handful")
    answers = handful.load(tmp_path / "model.handful").predict(contexts[1::2])
    assert answers == model.predict(contexts[1::2])
    right = np.mean([sense in context.senses for sense, context in zip(answers, contexts[1::2], strict=True)])
    usual = SenseClassifier("most-frequent", n_jobs=1).fit(contexts[::2]).predict(contexts[1::2])
    assert right > np.mean([sense in context.senses for sense, context in zip(usual, contexts[1::2], strict=True)])


def test_a_corpus_format(joined, monkeypatch, tmp_path):
    assert '`("underscored", "UNDERSCORED_FORMAT"): (),`' in PAGE
    order = {}
    for place, signs in detection.FORMATS.items():
        order |= {("underscored", "UNDERSCORED_FORMAT"): ()} if place == ("conll", "CONLL_FORMAT") else {}
        order[place] = signs
    monkeypatch.setattr(detection, "FORMATS", order)
    joined[0]("src/handful/data/underscored.py")
    detection.all_formats.cache_clear()
    try:
        path = tmp_path / "text.und"
        path.write_text("Rome_NNP fell_VBD\n\nIt_PRP did_VBD so_RB\n", encoding="utf-8")
        assert format_of(path).name == "underscored"
        assert [list(row) for row in read_tagged(path).tags] == [["NNP", "VBD"], ["PRP", "VBD", "RB"]]
        format_named("underscored").write(tmp_path / "again.und", format_of(path).read(path))
        assert (tmp_path / "again.und").read_text() == "Rome_NNP fell_VBD\nIt_PRP did_VBD so_RB\n"
    finally:
        detection.all_formats.cache_clear()


def test_a_query_strategy(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(strategies, "STRATEGIES", dict(strategies.STRATEGIES))
    monkeypatch.setattr("handful.active.query.STRATEGIES", strategies.STRATEGIES)
    exec(BLOCKS["src/handful/active/strategies.py, at its end"], vars(strategies).copy())
    path = tmp_path / "rows.csv"
    path.write_text("x,kind\n" + "".join(f"{i % 5},{'ab'[i % 5 > 2] if i < 10 else ''}\n" for i in range(39)) + "90,\n")
    with pytest.raises(SystemExit) as done:
        main(["next", str(path), "--target", "kind", "--strategy", "outlier", "-n", "1", "--json"])
    assert done.value.code == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["row"] == 40
