from __future__ import annotations

import json

import numpy as np
import pytest

from handful.cli import main
from handful.comparison.corpora import SenseExperiment, compare_senses, corpus_splits
from handful.comparison.trials import Limits, Trial
from handful.data.formats import format_named
from handful.errors import DataError, ParameterError
from handful.senses.classifier import SenseClassifier
from papers.generated_english import make_sense_contexts

MADE = make_sense_contexts({"bank.n": 2, "line.n": 2}, n_labeled=40, n_unlabeled=10, random_state=0)


@pytest.fixture
def sample(tmp_path):
    path = tmp_path / "sample.tsv"
    format_named("sense-table").write(path, MADE)
    return path


def experiment(**changes):
    labeled = [occurrence for occurrence in MADE if occurrence.senses]
    settings = {"unlabeled": [], "splits": corpus_splits(40, len(labeled), 0, "contexts"), "seed": 0, **changes}
    return SenseExperiment("made", labeled, **settings)


def test_a_trial_scores_what_the_classifier_answers():
    here = experiment()
    train, _, test = here.parts(Trial("naive-bayes", False, 0, 40))
    result = here.run(Trial("naive-bayes", False, 0, 40))
    labeled = [occurrence for occurrence in MADE if occurrence.senses]
    model = SenseClassifier("naive-bayes").fit([labeled[i] for i in train])
    answers = model.predict([labeled[i] for i in test])
    assert result.score == np.mean([answer in labeled[i].senses for answer, i in zip(answers, test, strict=True)])


def test_a_word_without_training_contexts_counts_as_wrong():
    here = experiment(splits=corpus_splits(2, 80, 3, "contexts"))
    result = here.run(Trial("most-frequent", False, 0, 2))
    assert result.error is None
    train, _, test = here.parts(Trial("most-frequent", False, 0, 2))
    words = {here.contexts[i].occurrence.word for i in train}
    strange = [i for i in test if here.contexts[i].occurrence.word not in words]
    assert result.score <= 1 - len(strange) / len(test)


def test_a_method_that_fails_is_told_and_the_others_go_on(sample, monkeypatch):
    def broken(self, *_, **__):
        if self.method == "linear-svm":
            raise DataError("it broke.")
        return fit(self, *_, **__)

    fit = SenseClassifier.fit_contexts
    monkeypatch.setattr(SenseClassifier, "fit_contexts", broken)
    comparison = compare_senses(sample, methods=["naive-bayes"], limits=Limits(trials=10))
    assert comparison.search.left_out == {"linear-svm": "it broke."}
    assert "naive-bayes" in {score.method for score in comparison.scores}


def test_limits_are_checked(sample, tmp_path):
    with pytest.raises(ParameterError, match="Did you mean 'naive-bayes'"):
        compare_senses(sample, methods=["naive-bayse"])
    with pytest.raises(ParameterError, match="labels must be between"):
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
    assert {"most-frequent", "naive-bayes"} <= {row["method"] for row in told["methods"]}
