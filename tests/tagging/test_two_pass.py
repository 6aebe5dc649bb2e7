from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from handful.data.records import Sentence
from handful.tagging.two_pass import agreement_columns
from papers.generated_english import make_tagged_sentences

TREES = make_tagged_sentences(120, random_state=3)
TEXT = [Sentence(t.sentence.tokens, {"pos": t.sentence["pos"]}) for t in TREES]
NER = [list(t.sentence["ner"]) for t in TREES]


def literal_columns(words, tags, window):
    """Go over all pairs of tokens."""
    of_spans = all(tag == "O" or tag[:2] in ("B-", "I-") for mine in tags for tag in mine)
    kinds = [[tag.split("-", 1)[-1] for tag in mine] if of_spans else mine for mine in tags]
    places = [(i, k) for i, mine in enumerate(words) for k in range(len(mine))]

    def most(found):
        counts = Counter(found)
        return min(counts, key=lambda kind: (-counts[kind], kind)) if counts else "-"

    columns = [{name: [] for name in ("same_near", "same_far")} for _ in words]
    for i, k in places:
        same = [p for p in places if p != (i, k) and words[p[0]][p[1]].lower() == words[i][k].lower()]
        columns[i]["same_far"].append(most(kinds[a][b] for a, b in same))
        columns[i]["same_near"].append(most(kinds[a][b] for a, b in same if abs(a - i) <= window))
    return [{name: tuple(mine) for name, mine in column.items()} for column in columns]


@pytest.mark.parametrize("window", [1, 3, 50])
@pytest.mark.parametrize("inventory", [["O", "B-X", "I-X", "B-Y", "I-Y"], ["N", "V"]])
def test_columns_are_those_of_all_pairs_of_tokens(window, inventory):
    rng = np.random.default_rng(window)
    words = [[str(rng.choice(["a", "A", "b", "c"])) for _ in range(rng.integers(0, 6))] for _ in range(15)]
    tags = [[str(rng.choice(inventory)) for _ in mine] for mine in words]
    assert agreement_columns(words, tags, window) == literal_columns(words, tags, window)
