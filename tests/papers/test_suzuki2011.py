"""The plan of Suzuki, Isozaki and Nagata 2011 knows every claim of its paper."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest

from handful.data.records import Sentence
from papers.claims import Settings, load_paper
from papers.suzuki2011 import ner, plans
from papers.suzuki2011 import texts as sources
from papers.suzuki2011.plans import draw_figures
from papers.suzuki2011.systems import COARSE, CURVE, FINE, RESOLUTIONS, Point, Task
from papers.suzuki2011.texts import Names, mixed


def test_without_data_every_claim_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("HANDFUL_DATA", str(tmp_path))
    found = plans.run(Settings(quick=True))
    assert not found.values
    assert set(found.not_run) == {claim.id for claim in load_paper("suzuki2011").claims}
    assert "conll2003-eng-train" in found.not_run["ner-sup-test"]
    assert "unlabeled-news-abc" in found.not_run["sources-cofer-over-sup"]


def test_rows_of_the_table_are_claims_of_the_paper():
    points = [Point("sup-l1", None, 0, 90.0, 500, 85.0), Point("icwr-l1", None, 0, 92.0, 600, 88.0)]
    for base, dev in (("sup-l1", 91.0), ("icwr-l1", 93.0)):
        points += [Point(base, COARSE, 1000, dev, 30, dev - 4), Point(base, FINE, 1000, dev + 0.5, 300, dev - 3)]
    points.append(Point("sup-l1", COARSE, 10, 50.0, 3, every=7))  # a point of the curve
    points += [Point(base, 1.0, 1000, 92.0, 90, 89.0, kept=True) for base in ("sup-l1", "icwr-l1")]
    found = ner.claimed(points)
    wanted = {c.id for c in load_paper("suzuki2011").claims if c.id.startswith("ner-")}
    assert set(found) == wanted
    assert found["ner-cofer-coarse-dev"] == 91.0
    assert found["ner-cofer-over-sup"] == 87.0 - 85.0
    assert found["ner-fine-over-sup"] == 88.0 - 85.0
    assert found["ner-both-over-icwr"] == 89.0 - 88.0
    assert found["ner-flat"] == -0.5
    assert (found["ner-kept-over-sup"], found["ner-kept-over-icwr"]) == (4.0, 1.0)


def _tiny() -> Task:
    words = [["Rome", "fell"], ["Ann", "saw", "Rome"], ["it", "fell"], ["Bob", "saw", "it"]] * 3
    tags = [["I-LOC", "O"], ["I-PER", "O", "I-LOC"], ["O", "O"], ["I-PER", "O", "O"]] * 3
    names = Names(
        [
            Sentence(tuple(w), {"pos": tuple("N" if t != "O" else "V" for t in g)})
            for w, g in zip(words, tags, strict=True)
        ],
        tags,
    )
    return Task(names, names, names, {"Rome": "0101", "Ann": "0110", "Bob": "0111"}, quick=True)


def test_all_systems_are_trained_and_only_those_of_the_table_are_tested(monkeypatch):
    task = _tiny()
    news = task.train.sentences * 10
    n_tokens = sum(map(len, news))
    monkeypatch.setattr(ner, "AMOUNTS", (n_tokens // 4,))
    saved = []
    points = ner.measure_systems(task, news, save=lambda some: saved.append(len(some)))
    assert saved == sorted(saved)
    assert (len(saved), saved[-1]) == (4, len(points))
    whole = {(p.base, p.resolution) for p in points if p.every == 1}
    bases = ("sup-l1", "icwr-l1", "sup-l2", "icwr-l2")
    assert whole == {(b, r) for b in bases for r in (None, *RESOLUTIONS[b[-2:]])}
    assert {(p.base, p.resolution) for p in points if p.test is not None} == set(ner._ROWS)
    assert [p.base for p in points if p.kept] == ["sup-l1", "icwr-l1"]
    curve = [p for p in points if p.every > 1]
    assert {(p.base, p.resolution) for p in curve} == {("sup-l1", r) for r in CURVE["sup-l1"]}
    assert {p.n_tokens >= n_tokens / 4 for p in curve} == {True}
    assert len({p.n_tokens for p in curve}) == 2
    assert ner.claimed(points) == ner.claimed(ner.measure_systems(task, news))


def test_figures_are_the_same_file_again(tmp_path):
    points = [Point(f"{kind}-{learner}", None, 0, 90.0, 9000) for kind in ("sup", "icwr") for learner in ("l1", "l2")]
    for n_tokens in (100, 1000, 10_000):
        points += [Point("sup-l1", r, n_tokens, 80 + r, int(100 * r), every=7) for r in (1.0, 4.0)]
    points += [Point(p.base, r, 10_000, 80 + r, int(100 * r)) for p in points[:4] for r in (1.0, 4.0)]
    first = [path.read_bytes() for path in draw_figures(tmp_path, points)]
    assert len(first) == 3
    assert json.loads(first[2])[0] == asdict(points[0])
    assert [path.read_bytes() for path in draw_figures(tmp_path, points)] == first


def test_every_beginning_of_the_mixture_has_the_same_shares():
    merged = "".join(mixed(["a" * 300, "b" * 100]))
    assert merged[:40].count("b") == 10
    assert merged.count("a") == 300


def test_sources_are_learned_from_few_labels():
    rng = np.random.default_rng(0)
    rows = (
        rng.random((200, 6)) < np.repeat([[0.6, 0.6, 0.6, 0.1, 0.1, 0.1], [0.1, 0.1, 0.1, 0.6, 0.6, 0.6]], 100, 0)
    ).astype(float)
    answers = np.repeat(["a", "b"], 100)
    labels = np.where(np.arange(200) % 10 == 0, answers.astype(object), None)
    found = sources.measure_sources(sources.Rows(rows, labels, rows, answers))
    assert found["sources-cofer-over-sup"] == pytest.approx(found["sources-cofer-test"] - found["sources-sup-test"])
    assert found["sources-cofer-test"] > 75
    assert 0 < found["sources-cofer-active"] < found["sources-sup-active"]
