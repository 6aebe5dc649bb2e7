"""Models as a component of spaCy, and its documents as data. Skipped, and counted, where spaCy is not installed."""

from __future__ import annotations

import pytest

from handful.data.formats import format_named, format_of
from handful.data.records import Sentence, Tree
from handful.data.tagged import read_tagged
from handful.errors import FormatError, ParameterError
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


def test_documents_are_read_and_written(nlp, tmp_path):
    path = tmp_path / "a.spacy"
    doc = nlp.make_doc("Old  Rome\nfell. Why?")
    doc.set_ents([spacy.tokens.Span(doc, 0, 3, label="LOC")])
    spacy.tokens.DocBin(docs=[doc]).to_disk(path)
    assert format_of(path).name == "docbin"
    first, second = format_named("docbin").read(path)
    assert (first.tokens, first["tag"]) == (("Old", "Rome", "fell", "."), ("B-LOC", "I-LOC", "O", "O"))
    for sentence in (first, second):
        for token, start, end in zip(sentence.tokens, sentence["start"], sentence["end"], strict=True):
            assert doc.text[int(start) : int(end)] == token
    sentences = [
        Sentence(("Rome", "fell"), {"upos": ("PROPN", "VERB"), "xpos": ("NNP", "VBD"), "tag": ("B-LOC", "O")}),
        Sentence(("So", "what"), {"upos": ("ADV", "PRON"), "xpos": ("RB", "WP"), "tag": ("O", "O")}),
    ]
    format_named("docbin").write(path, sentences)
    assert read_tagged(path).tags == (("B-LOC", "O"), ("O", "O"))
    assert read_tagged(path, tag="xpos").tags == (("NNP", "VBD"), ("RB", "WP"))
    path.write_bytes(b"x\x9cnothing")
    with pytest.raises(FormatError, match="expected documents of spaCy, got a damaged file"):
        read_tagged(path)


def test_documents_that_were_never_given_entities_are_left_out(nlp, tmp_path):
    path = tmp_path / "a.spacy"
    tagged, bare = nlp.make_doc("Rome fell."), nlp.make_doc("Nobody looked here.")
    tagged.set_ents([spacy.tokens.Span(tagged, 0, 1, label="LOC")])
    spacy.tokens.DocBin(docs=[bare, tagged]).to_disk(path)
    found = read_tagged(path)
    assert found.tags == (("B-LOC", "O", "O"),)
    assert "1 of 2 sentences were never tagged, such as 'Nobody looked here .'" in found.notes[0]
    spacy.tokens.DocBin(docs=[bare]).to_disk(path)
    with pytest.raises(FormatError, match="expected a column 'tag' next to the token, got the token alone"):
        read_tagged(path)


def test_predict_writes_documents(nlp, models, tmp_path, capsys):
    from handful.cli import main

    def predicted(*arguments):
        with pytest.raises(SystemExit) as done:
            main(["predict", *arguments, "-o", str(target)])
        assert done.value.code == 0, capsys.readouterr().err
        return list(spacy.tokens.DocBin().from_disk(target).get_docs(nlp.vocab))

    text, target = tmp_path / "raw.txt", tmp_path / "out.spacy"
    text.write_text("Old Rome rose. Bonn fell.\n")
    docs = predicted(models["names"], str(text))
    assert [doc.text for doc in docs] == ["Old Rome rose.", "Bonn fell."]
    assert [(ent.text, ent.label_) for doc in docs for ent in doc.ents] == [("Old Rome", "LOC"), ("Bonn", "LOC")]
    docs = predicted(models["pos"], models["parser"], str(text))
    assert [word.tag_ for word in docs[0]] == ["NNP", "NNP", "VBD", "."]
    assert [word.head.text for word in docs[0]] == ["Rome", "rose", "rose", "rose"]
    assert [word.dep_ for word in docs[0]][:3] == ["flat", "nsubj", "ROOT"]
    docs = predicted(models["names"], str(text), "--abstain", "1")
    assert {word.ent_iob_ for doc in docs for word in doc} == {""}
