"""Punctuation marks that are hung anew, against a literal telling."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.tree_marks import candidates, crosses, movable
from oracles.trees import all_trees

from handful.data.records import Sentence, Tree
from handful.kernels.arcs import choose_heads, keys_of_punctuation
from handful.kernels.hashing import find_in_rows
from handful.parsing.arc_labels import PunctuationAttacher, partners_of
from handful.parsing.encoding import SPECIAL, TokenEncoder
from handful.parsing.parser import DependencyParser
from handful.parsing.templates import TemplateSet, show_key

TAGS = {"Rome": "NNP", "fell": "VBD", ",": ",", "(": "-LRB-", ")": "-RRB-"}
MARKS = {",", "(", ")"}


def sentence_of(rng, n):
    words = tuple(rng.choice(list(TAGS), n).tolist())
    return Sentence(words, {"xpos": tuple(TAGS[w] for w in words)})


def test_candidates_are_those_of_the_literal_telling():
    rng = np.random.default_rng(0)
    templates = TemplateSet((), ("h.word g.pos m.word m+1.coarse tops climb pair", "tops climb"))
    known = [Sentence(tuple(TAGS), {"xpos": tuple(TAGS.values())})]
    encoder = TokenEncoder.learn(known, ("xpos",), None, templates)
    spec = templates.compile(encoder.n_codes)
    values = {name: [*SPECIAL, *strings] for name, strings in encoder.values.items()}
    seen = set()
    for n in (1, 2, 5, 6):
        for heads in all_trees(n, n < 6, False)[:: 1 if n < 6 else 97]:
            sentence = sentence_of(rng, n)
            partners = partners_of(sentence.tokens)
            found = keys_of_punctuation(encoder.encode([sentence]), 2, spec[1], np.array(heads), partners)
            marks, starts, heads_found, keys, bounds = found
            partner = {p: int(other) for p, other in enumerate(partners, start=1) if other}
            wanted = candidates(heads, [w in MARKS for w in sentence.tokens], partner)
            assert (marks - 2).tolist() == list(wanted)
            word = dict(enumerate(sentence.tokens, start=1))
            for k, (p, choices) in enumerate(wanted.items()):
                mine = range(starts[k], starts[k + 1])
                assert [heads_found[c] - 2 for c in mine] == [head for head, *_ in choices]
                for c, (head, tops, climb, pair) in zip(mine, choices, strict=True):
                    above, after = heads[head - 1], TAGS[word[p + 1]][:2] if p < n else "<outside>"
                    side = "right" if p > head else "left"
                    names = [show_key(int(key), templates, spec, values) for key in keys[bounds[c] : bounds[c + 1]]]
                    assert names == [
                        f"h.word={word[head]} g.pos={TAGS[word[above]] if above else '<root>'} m.word={word[p]} "
                        f"m+1.coarse={after} tops={tops} climb={climb} pair={pair} {side}",
                        f"tops={tops} climb={climb} {side}",
                    ]
                    seen.add((tops, climb, pair))
    assert {s[0] for s in seen} == {0, 1, 2, 3, 4}
    assert {s[1] for s in seen} == {0, 1, 2, 3, 4, 5}
    assert {s[2] for s in seen} == {0, 1, 2, 3}


def test_marks_alone_move_and_no_arcs_cross_by_that():
    rng = np.random.default_rng(1)
    trees = {n: all_trees(n, True, True) for n in (2, 5, 6)}
    sentences = [sentence_of(rng, n) for n in (2, 5, 5, *[6] * 150)]
    heads = [trees[len(s)][rng.integers(len(trees[len(s)]))] for s in sentences]
    together = np.concatenate([np.array(h, dtype=np.int32) for h in heads])
    encoder = TokenEncoder.learn(sentences, ("xpos",), None, TemplateSet.for_punctuation())
    attacher = PunctuationAttacher.learn(encoder, sentences, together, seed=0)
    attacher.weights = 3.0 * rng.normal(size=len(attacher.keys))
    hung, start, n_moved = attacher.attach(sentences, together), 0, 0
    for sentence, old in zip(sentences, heads, strict=True):
        new = hung[start : start + len(sentence)].tolist()
        start += len(sentence)
        free = movable(old, [w in MARKS for w in sentence.tokens])
        assert [h for p, h in enumerate(new, start=1) if p not in free] == [
            h for p, h in enumerate(old, start=1) if p not in free
        ]
        assert not crosses(new)
        n_moved += sum(a != b for a, b in zip(old, new, strict=True))
    assert n_moved > 50
    # what is chosen is the heaviest candidate, where marks do not stand side by side
    codes, root = encoder.encode(sentences), 2
    for sentence, old in zip(sentences, heads, strict=True):
        found = keys_of_punctuation(codes, root, attacher._spec, np.array(old), partners_of(sentence.tokens))
        marks, starts, choices, keys, bounds = found
        ids, bounds = find_in_rows(attacher._table, keys, bounds)
        here = np.array(old)[marks - root - 1] + root
        chosen = choose_heads(ids, bounds, marks, starts, choices, attacher.weights, here, 0.7)
        for k in range(len(marks)):
            if k == 0 or marks[k] != marks[k - 1] + 1:
                mine = range(starts[k], starts[k + 1])
                scores = [attacher.weights[ids[bounds[c] : bounds[c + 1]]].sum() for c in mine]
                scores = [score + 0.7 * (choices[c] == here[k]) for c, score in zip(mine, scores, strict=True)]
                assert chosen[k] == choices[mine[int(np.argmax(scores))]]
        root += len(sentence) + 1


@pytest.fixture(scope="module")
def stopped():
    """Trees whose full stop hangs from the main verb, which only the tree tells."""
    tags = ("N", "V", "S", "N", "V", ".")
    out = []
    for first in (True, False):
        words = ("dogs", "bark", "if", "cats", "come", ".") if first else ("if", "cats", "come", "dogs", "bark", ".")
        xpos = tags if first else ("S", "N", "V", "N", "V", ".")
        heads = (2, 0, 5, 5, 2, 2) if first else (3, 3, 5, 5, 0, 5)
        out.append(Tree(Sentence(words, {"xpos": xpos}), heads, ("x",) * 6))
    return out * 10


def test_full_stops_go_where_the_root_is(stopped):
    parser = DependencyParser(max_iter=3).fit(stopped)
    moved = stopped[0].heads[:5] + (5,)
    hung = parser._attacher.attach([stopped[0].sentence], np.array(moved, dtype=np.int32))
    assert tuple(hung) == stopped[0].heads
    assert DependencyParser(rehang=False, max_iter=1).fit(stopped).marks_ is None


def test_brackets_and_quotes_find_their_partner():
    assert partners_of(['"', "a", "(", "b", '"', ")", '"']).tolist() == [5, 0, 0, 0, 1, 0, 0]
    assert partners_of(["``", "(", "[", "a", "]", ")", "''"]).tolist() == [7, 6, 5, 0, 3, 2, 1]
    assert partners_of([]).tolist() == []
