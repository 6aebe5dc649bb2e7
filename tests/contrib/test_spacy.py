"""Models as a component of spaCy, and its documents as data. Skipped, and counted, where spaCy is not installed."""

from __future__ import annotations

import pytest

from handful.data.records import Sentence, Tree
from handful.errors import ParameterError
from handful.parsing.parser import DependencyParser
from handful.persistence.model_file import save
from handful.tagging.crf import CRF

spacy = pytest.importorskip("spacy")


@pytest.fixture
def models(tmp_path):
    """Return files of a tagger of names, one of parts of speech, and a parser."""
    text = [("Rome", "fell", "."), ("Bonn", "fell", "."), ("Old", "Rome", "rose", ".")] * 3
    names = [("B-LOC", "O", "O"), ("B-LOC", "O", "O"), ("B-LOC", "I-LOC", "O", "O")] * 3
    pos = [("NNP", "VBD", "."), ("NNP", "VBD", "."), ("NNP", "NNP", "VBD", ".")] * 3
    heads = [(2, 0, 2), (2, 0, 2), (2, 3, 0, 3)] * 3
    labels = [("nsubj", "root", "punct"), ("nsubj", "root", "punct"), ("flat", "nsubj", "root", "punct")] * 3
    trees = [
        Tree(Sentence(words, {"xpos": tags}), mine, named)
        for words, tags, mine, named in zip(text, pos, heads, labels, strict=True)
    ]
    fine = CRF(strength=0.1).fit(text, pos)
    fine.training_ = {"tag": "xpos", "layout": []}
    files = {}
    for name, model in {
        "names": CRF(strength=0.1).fit(text, names),
        "pos": fine,
        "parser": DependencyParser(order=1, max_iter=3).fit(trees),
    }.items():
        files[name] = str(tmp_path / f"{name}.handful")
        save(model, files[name])
    return files


@pytest.fixture
def nlp():
    import handful.contrib.spacy  # noqa: F401 (what the entry point does)

    return spacy.blank("en")


def test_spans_tags_and_trees(nlp, models):
    nlp.add_pipe("handful_tagger", config={"model": models["names"]})
    nlp.add_pipe("handful_tagger", name="trees", config={"model": [models["pos"], models["parser"]]})
    doc = nlp("  Old Rome rose.\n\nBonn fell.")
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Old Rome", "LOC"), ("Bonn", "LOC")]
    words = [word for word in doc if not word.is_space]
    assert [word.tag_ for word in words] == ["NNP", "NNP", "VBD", ".", "NNP", "VBD", "."]
    assert [word.head.text for word in words] == ["Rome", "rose", "rose", "rose", "fell", "fell", "fell"]
    assert [word.dep_ for word in words[:3]] == ["flat", "nsubj", "ROOT"]
    assert [sent.text.strip() for sent in doc.sents] == ["Old Rome rose.", "Bonn fell."]
    assert [len(doc.ents) for doc in nlp.pipe(["", " ", "Rome fell."])] == [0, 0, 1]


def test_a_pipeline_on_disk_finds_its_model_again(nlp, models, tmp_path):
    nlp.add_pipe("handful_tagger", config={"model": models["names"]})
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")
    assert [ent.text for ent in again("Rome fell.").ents] == ["Rome"]


def test_a_model_that_cannot_serve_is_refused(nlp, models):
    with pytest.raises(ParameterError, match="must be the path of a model file"):
        nlp.add_pipe("handful_tagger")
    with pytest.raises(ParameterError, match="taggers are needed, and a parser at most at the end"):
        nlp.add_pipe("handful_tagger", config={"model": [models["parser"], models["pos"]]})
