"""Sentences of a made-up English with tags, heads and entities."""

from __future__ import annotations

from handful.core.records import Sentence, Tree
from handful.corpora.make.draws import RandomState, check_count, source
from handful.corpora.make.grammar import SentenceWriter
from handful.corpora.make.lexicon import lexicon


def make_tagged_sentences(n_sentences: int = 1000, random_state: RandomState = None) -> list[Tree]:
    """Make sentences with part-of-speech tags, named entities and dependency trees.

    A small grammar (coordination, relative and subordinate clauses, questions, passives, several prepositional
    phrases) draws from a Zipfian lexicon of some thousands of pseudo-words with English endings. Words depend on
    their tag, on what the verb or preposition asks for (persons, places, things, ...) and on the topic of the
    sentence, so clusters and context similarity have something to find. Many words are ambiguous (noun and verb,
    past and participle, surname and place), and any sample leaves part of the lexicon unseen.

    Parameters
    ----------
    n_sentences : int, default=1000
        How many.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the sentences. The language itself is always the same, so samples with different seeds serve as
        training, test and raw text.

    Returns
    -------
    list of Tree
        Projective trees in which prepositions are the heads of their nouns and main verbs those of their
        auxiliaries; each sentence has the columns ``pos`` (Penn Treebank tags) and ``ner`` (IOB2 with PER, LOC
        and ORG).

    Notes
    -----
    Cost: linear in the number of words, a few microseconds each.

    Examples
    --------
    >>> tree = make_tagged_sentences(1, random_state=3)[0]
    >>> sorted(tree.sentence.columns), tree.heads.count(0)
    (['ner', 'pos'], 1)
    """
    check_count("make_tagged_sentences", "n_sentences", n_sentences)
    rng = source("make_tagged_sentences", random_state)
    words = lexicon()
    trees = []
    for _ in range(n_sentences):
        writer = SentenceWriter(words, rng)
        writer.write()
        sentence = Sentence(tuple(writer.tokens), {"pos": tuple(writer.tags), "ner": tuple(writer.entities)})
        trees.append(Tree(sentence, tuple(writer.heads), tuple(writer.labels)))
    return trees
