"""The same objective as CRFsuite, where it is installed; and accuracy on real tags."""

from __future__ import annotations

import numpy as np
import pytest

from handful.tagging.crf import CRF


def sentences(seed, n=60):
    rng = np.random.default_rng(seed)
    words, tags = [], []
    for length in rng.integers(1, 9, size=n):
        row = rng.integers(0, 12, size=length)
        words.append([f"w{w}" for w in row])
        tags.append([str((w + (rng.random() < 0.2)) % 4) for w in row])
    return words, tags


@pytest.mark.parametrize(("penalty", "c1", "c2"), [("l2", 0.0, 0.5), ("l1", 0.5, 0.0), ("l1", 0.3, 0.2)])
def test_objective_and_tags_equal_those_of_crfsuite(tmp_path, penalty, c1, c2):
    pycrfsuite = pytest.importorskip("pycrfsuite")
    words, tags = sentences(0)
    padded = [["<s>", *row, "</s>"] for row in words]
    trainer = pycrfsuite.Trainer(verbose=False)
    for row, gold in zip(padded, tags, strict=True):
        trainer.append([[f"a{row[t - 1]}", f"b{row[t]}", f"c{row[t + 1]}"] for t in range(1, len(row) - 1)], gold)
    trainer.set_params({"c1": c1, "c2": c2, "delta": 1e-9, "epsilon": 1e-9, "max_iterations": 2000})
    trainer.train(str(tmp_path / "model"))
    strength = c2 if penalty == "l2" else c1
    templates = ["b", "word[-1]", "word[0]", "word[1]"]
    model = CRF(templates, penalty=penalty, strength=strength, extra_l2=c2, tol=1e-9).fit(words, tags)
    assert model.objective_ == pytest.approx(trainer.logparser.last_iteration["loss"], rel=1e-6)
    tagger = pycrfsuite.Tagger()
    tagger.open(str(tmp_path / "model"))
    new, _ = sentences(1)
    theirs = []
    for row in [["<s>", *r, "</s>"] for r in new]:
        theirs.append(tagger.tag([[f"a{row[t - 1]}", f"b{row[t]}", f"c{row[t + 1]}"] for t in range(1, len(row) - 1)]))
    ours = model.predict(new)
    same = [a == b for x, y in zip(ours, theirs, strict=True) for a, b in zip(x, y, strict=True)]
    assert np.mean(same) > 0.99


@pytest.mark.corpus
@pytest.mark.slow
def test_tags_of_the_wsj_sample(data_folder):
    from handful.data.conll import read_conll

    found = list(read_conll(data_folder / "wsj-sample-pos.tsv.gz", ("token", "pos")))
    words, tags = [list(s.tokens) for s in found], [list(s["pos"]) for s in found]
    model = CRF("pos", max_iter=40, n_jobs=2).fit(words[:800], tags[:800])
    assert model.score(words[3500:], tags[3500:]) > 0.90
