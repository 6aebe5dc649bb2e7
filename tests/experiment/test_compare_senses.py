from __future__ import annotations

import json

import numpy as np
import pytest

from handful.cli import main
from handful.core.errors import DataError, ParameterError
from handful.corpora.formats import format_named
from handful.corpora.make import make_sense_contexts
from handful.experiment.arena_corpora import CorpusDraws
from handful.experiment.compare_senses import SenseArena, compare_senses
from handful.experiment.trial import Task
from handful.senses import SenseClassifier

MADE = make_sense_contexts({"bank.n": 2, "line.n": 2}, n_labeled=40, n_unlabeled=10, random_state=0)


@pytest.fixture
def sample(tmp_path):
    path = tmp_path / "sample.tsv"
    format_named("sense-table").write(path, MADE)
    return path


def arena(**changes):
    labeled = [occurrence for occurrence in MADE if occurrence.senses]
    settings = {"unlabeled": [], "draws": CorpusDraws(len(labeled), 40, 0), "seed": 0, **changes}
    return SenseArena("made", labeled, **settings)


def test_a_trial_scores_what_the_classifier_answers():
    here = arena()
    train, _, test = here.draws.parts(0, 40)
    outcome = here.run(Task("naive-bayes", False, 0, 40))
    labeled = [occurrence for occurrence in MADE if occurrence.senses]
    model = SenseClassifier("naive-bayes").fit([labeled[i] for i in train])
    answers = model.predict([labeled[i] for i in test])
    assert outcome.score == np.mean([answer in labeled[i].senses for answer, i in zip(answers, test, strict=True)])


def test_a_word_without_training_contexts_counts_as_wrong():
    here = arena(draws=CorpusDraws(80, 2, 3))
    outcome = here.run(Task("most-frequent", False, 0, 2))
    assert outcome.error is None
    train, _, test = here.draws.parts(0, 2)
    words = {here.contexts[i].occurrence.word for i in train}
    strange = [i for i in test if here.contexts[i].occurrence.word not in words]
    assert outcome.score <= 1 - len(strange) / len(test)


def test_a_method_that_fails_is_told_and_the_others_go_on(sample, monkeypatch):
    def broken(self, *_, **__):
        if self.method == "linear-svm":
            raise DataError("it broke.")
        return fit(self, *_, **__)

    fit = SenseClassifier.fit_contexts
    monkeypatch.setattr(SenseClassifier, "fit_contexts", broken)
    comparison = compare_senses(sample, methods=["naive-bayes"], trials=10, n_jobs=1)
    assert comparison.race.left_out == {"linear-svm": "it broke."}
    assert "naive-bayes" in {rank.name for rank in comparison.ranking.ranks}


def test_limits_are_checked(sample, tmp_path):
    with pytest.raises(ParameterError, match="Did you mean 'naive-bayes'"):
        compare_senses(sample, methods=["naive-bayse"])
    with pytest.raises(ParameterError, match="between 2 and the training part of the contexts"):
        compare_senses(sample, labels=79)
    short = tmp_path / "short.tsv"
    format_named("sense-table").write(short, MADE[:5])
    with pytest.raises(DataError, match="at least 10 contexts with a sense are needed to compare, got 5"):
        compare_senses(short)


def test_the_command_compares_models_of_senses(sample, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(SystemExit) as ended:
        main(["compare", str(sample), "--methods", "kernel-pca", "--trials", "8", "--jobs", "1", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert ended.value.code == 0
    assert told["metric"] == "accuracy of senses"
    assert told["facts"]["contexts with a sense"] == 80
    assert {"most-frequent", "naive-bayes"} <= {row["name"] for row in told["rows"]}
