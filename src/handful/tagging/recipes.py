"""Ways to make a tagger from few tagged sentences and much raw text, with the settings that suit most corpora."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from handful.core.records import Sentence
from handful.core.registry import Card, add_card
from handful.features.template_sets import lookup_templates, ready_set

_ITERATIONS = 60
_PREFIXES = (4, 6, 10, 20)
_RESOLUTION = 16.0
_MOST_CLUSTERS = 200

Sentences = Sequence[Sentence]
Tags = Sequence[Sequence[str]]


class TaggerSetup:
    """What the recipes of taggers share: templates, seed, and resources that are made once.

    Parameters
    ----------
    templates : {"pos", "chunk", "ner"}
        What a CRF observes.
    columns : iterable of str
        Columns of the sentences beside the tokens.
    seed : int
        Seed of what uses chance.

    Examples
    --------
    >>> setup = TaggerSetup("pos")
    >>> setup.crf().fit([["a", "dog"]], [["D", "N"]]).predict([["a", "dog"]])
    [['D', 'N']]
    """

    def __init__(
        self, templates: Literal["pos", "chunk", "ner"] = "pos", columns: Sequence[str] = (), seed: int = 0
    ) -> None:
        self.templates = templates
        self.columns = tuple(columns)
        self.seed = seed
        self._clusters: tuple[Sentences, Any] | None = None

    def crf(self, lookups: dict[str, Any] | None = None) -> Any:
        """Return a new CRF, with templates that read the lookups."""
        from handful.tagging.crf import CRF

        if lookups is None:
            return CRF(self.templates, max_iter=_ITERATIONS)
        absent = {"pos", "chunk"} - set(self.columns)
        texts = [text for text in ready_set(self.templates) if not _mentions(text, absent)]
        return CRF([*texts, *lookup_templates("brown", _PREFIXES)], max_iter=_ITERATIONS, lookups=lookups)

    def clusters(self, sentences: Sentences) -> Any:
        """Return Brown clusters of untagged sentences; those of the last ones are kept."""
        from handful.representations.brown import BrownClusters

        if self._clusters is None or self._clusters[0] is not sentences:
            types = len({token for sentence in sentences for token in sentence})
            n_clusters = max(2, min(_MOST_CLUSTERS, types // 10))
            self._clusters = (sentences, BrownClusters(n_clusters).fit(list(sentences)))
        return self._clusters[1]


def train_crf(setup: TaggerSetup, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    """Return a CRF of the tagged sentences alone."""
    return setup.crf().fit(list(sentences), _lists(tags))


def train_prototypes(setup: TaggerSetup, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    """Return a prototype tagger whose lists are drawn from the tagged sentences."""
    from handful.tagging.prototypes import PrototypeTagger
    from handful.tagging.prototypes.lists import extract_prototypes

    lists = extract_prototypes([tuple(sentence) for sentence in sentences], tags)
    given: list[Any] = [*_lists(tags), *[None] * len(unlabeled)]
    labels = sorted({tag for sentence_tags in tags for tag in sentence_tags})
    tagger = PrototypeTagger(lists, order=1, max_iter=30, labels=labels, random_state=setup.seed)
    return tagger.fit([list(sentence) for sentence in [*sentences, *unlabeled]], given)


def train_crf_with_clusters(setup: TaggerSetup, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    """Return a CRF that also reads the clusters of words in the untagged sentences."""
    return setup.crf({"brown": setup.clusters(unlabeled).paths_}).fit(list(sentences), _lists(tags))


def train_crf_condensed(setup: TaggerSetup, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    """Return a CRF whose features are condensed by its decisions on the untagged sentences."""
    from handful.representations import CondensedFeatures

    # Templates may only read what the raw text has too.
    shared = set(getattr(unlabeled[0], "columns", ()))
    inputs = [_only(sentence, shared) for sentence in sentences]
    features = CondensedFeatures(setup.crf().fit(inputs, _lists(tags)), resolution=_RESOLUTION)
    return features.fit(list(unlabeled), labeled=inputs).retrain(inputs, _lists(tags), max_iter=_ITERATIONS)


def train_stacked(setup: TaggerSetup, sentences: Sentences, tags: Tags, unlabeled: Sentences) -> Any:
    """Return a CRF that semi-supervised condensed nearest neighbors correct."""
    from handful.neighbors import SemiSupervisedCondensedNN
    from handful.tagging.stacked import StackedTagger

    clusters = setup.clusters(unlabeled)
    tagger = StackedTagger(setup.crf(), SemiSupervisedCondensedNN(), clusters=clusters)
    return tagger.fit(list(sentences), _lists(tags), unlabeled=list(unlabeled))


def _lists(tags: Tags) -> list[list[str]]:
    return [list(sentence_tags) for sentence_tags in tags]


def _only(sentence: Any, names: set[str]) -> Sentence:
    columns = getattr(sentence, "columns", {})
    return Sentence(tuple(sentence), {name: cells for name, cells in columns.items() if name in names})


def _mentions(template: str, columns: set[str]) -> bool:
    from handful.features import parse_templates

    return any(atom.column in columns for atom in parse_templates([template])[0].atoms)


add_card(
    Card(
        "crf+clusters",
        "sentences",
        learns_from=("labels", "unlabeled"),
        twin="crf",
        summary="A CRF that also reads Brown clusters of the words in raw text.",
        cost="fair",
        resources=("raw text", "clusters"),
        train=train_crf_with_clusters,
    )
)
add_card(
    Card(
        "crf+condensed-features",
        "sentences",
        learns_from=("labels", "unlabeled"),
        twin="crf",
        paper="suzuki2011",
        summary="A CRF whose features are condensed by its own decisions on raw text.",
        cost="slow",
        resources=("raw text",),
        train=train_crf_condensed,
    )
)
add_card(
    Card(
        "crf+stacked-condensed-nn",
        "sentences",
        learns_from=("labels", "unlabeled"),
        twin="crf",
        paper="sogaard2011",
        summary="A CRF that semi-supervised condensed nearest neighbors correct.",
        cost="slow",
        resources=("raw text", "clusters"),
        train=train_stacked,
    )
)
